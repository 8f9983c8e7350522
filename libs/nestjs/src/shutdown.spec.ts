import './register.js';
import { Owners } from '#core';
import { BullModule, getQueueToken, Processor, WorkerHost } from '@nestjs/bullmq';
import { Inject } from '@nestjs/common';
import type { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startNestApp } from '../../../test/support/nest-app.js';
import { TestStore } from '../../../test/support/store.js';
import { until } from '../../../test/support/until.js';
import { MooringModule } from './index.js';

@Processor('audio')
class LateCanceller extends WorkerHost {
  begun = false;
  answer: unknown;

  constructor(@Inject(Owners) private readonly owners: Owners) {
    super();
  }

  /** The shutdown begins while it runs. */
  async process(): Promise<void> {
    this.begun = true;
    await pause(300);
    this.answer = await this.owners.cancel('track:17').catch((error: unknown) => error);
  }
}

describe('the shutdown of an application', () => {
  let store: TestStore;
  let redis: Redis;

  beforeEach(async () => {
    store = await TestStore.start();
    redis = new Redis(store.url);
  });

  afterEach(async () => {
    redis.disconnect();
    await store.stop();
  });

  const connections = async () => ((await redis.client('LIST')) as string).trim().split('\n').length;

  const mooring = () => [
    MooringModule.forRoot({ connection: { url: store.url }, sweeps: true }),
    MooringModule.forQueue('audio', { ownersOf: () => ['track:17'] }),
  ];
  const bull = () => [
    BullModule.forRoot({ connection: { url: store.url } }),
    BullModule.registerQueue({ name: 'audio' }),
  ];

  class Infrastructure {}

  it.each([
    { imported: 'by the application', imports: () => [...mooring(), ...bull()] },
    // Nest then shuts it down before BullModule.
    {
      imported: 'by a module of it',
      imports: () => [...bull(), { module: Infrastructure, imports: mooring() }],
    },
  ])(
    'keeps Owners for the runs that end in it, and leaves no connection (imported $imported)',
    async ({ imports }) => {
      const app = await startNestApp({ imports: imports(), providers: [LateCanceller] });
      await app.get<Queue>(getQueueToken('audio')).add('transcode', {});
      const canceller = app.get(LateCanceller);
      await until(() => canceller.begun, 'it runs');
      expect(await connections()).toBeGreaterThan(4);

      await app.close();

      expect(canceller.answer).toMatchObject({ owner: 'track:17', closed: true });
      await until(async () => (await connections()) === 1, 'only that of the test is left', 2_000);
    },
  );
});
