import '../register.js';
import { BullModule } from '@nestjs/bullmq';
import type { INestApplicationContext } from '@nestjs/common';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { CoreKit, until } from '../../../../test/support/core-kit.js';
import { startNestApp } from '../../../../test/support/nest-app.js';
import { MooringModule, type MooringOptions } from '../index.js';
import { AdoptionTurns } from './adoption-turns.js';

const WAITING = 1_500;

describe('the sweeps of an application', () => {
  let kit: CoreKit;
  let app: INestApplicationContext | undefined;

  beforeEach(() => {
    kit = new CoreKit();
  });

  afterEach(async () => {
    await app?.close();
    app = undefined;
    await kit.stop();
  });

  async function start(sweeps: MooringOptions['sweeps']): Promise<void> {
    const place = { connection: { url: inject('storeUrl') }, prefix: kit.prefix };
    app = await startNestApp({
      imports: [
        MooringModule.forRoot({ ...place, ...(sweeps !== undefined && { sweeps }) }),
        BullModule.registerQueue({ name: 'audio', ...place }, { name: 'mail', ...place }),
        MooringModule.forQueue('audio', { ownersOf: ({ data }) => [`track:${data.trackId}`] }),
        MooringModule.forQueue('mail'),
      ],
    });
  }

  it('give jobs of plain producers their owners', async () => {
    await kit.plainQueue().add('transcode', { trackId: 1 });
    await start(true);

    await until(async () => (await kit.owners.get('track:1'))?.count === 1, 'it is adopted');
    expect(await kit.owners.cancel('track:1', { wait: 'drained' })).toMatchObject({ removed: 1 });
  });

  it('repeat', async () => {
    await start({ adoptEvery: '100ms' });
    await kit.plainQueue().add('transcode', { trackId: 1 });

    await until(async () => (await kit.owners.get('track:1'))?.count === 1, 'it is adopted');
    await kit.owners.cancel('track:1', { wait: 'drained' });
  });

  it('continue a cancel whose process was killed', async () => {
    const jobs = Array.from({ length: 700 }, () => ({ name: 'x', data: {}, opts: { owners: ['track:1'] } }));
    await kit.queue().addBulk(jobs);
    await kit.cancelAndDie('track:1', 'c1');
    expect(await kit.owners.receipt('c1')).toMatchObject({ done: false });
    await start(true);

    await until(async () => (await kit.owners.receipt('c1'))?.done, 'it is done');
  });

  it('read a thousand jobs a turn, and continue where they stopped', async () => {
    const jobs = Array.from({ length: WAITING }, (_, n) => ({ name: 'x', data: { trackId: n % 2 } }));
    await kit.plainQueue().addBulk(jobs);
    const turns = new AdoptionTurns(
      kit.queue('audio', { ownersOf: ({ data }) => [`track:${data.trackId}`] }),
    );
    const adopted = async () => (await kit.owners.list()).owners.reduce((sum, { count }) => sum + count, 0);

    await turns.sweepOnce();
    expect(await adopted()).toBe(1_000);
    await turns.sweepOnce();
    expect(await adopted()).toBe(WAITING);

    await Promise.all([0, 1].map((track) => kit.owners.cancel(`track:${track}`, { wait: 'drained' })));
  });

  it('name the queue whose jobs have unresolvable owners when the others have theirs', async () => {
    await kit.plainQueue().addBulk([null, { trackId: 1 }].map((data) => ({ name: 'x', data })));
    const turns = new AdoptionTurns(
      kit.queue('audio', { ownersOf: ({ data }) => [`track:${data.trackId}`] }),
    );

    await expect(turns.sweepOnce()).rejects.toThrow(
      'ownersOf of queue "audio" cannot name the owners of some jobs: Cannot read properties of null',
    );

    expect(await kit.owners.cancel('track:1', { wait: 'drained' })).toMatchObject({ removed: 1 });
  });
});
