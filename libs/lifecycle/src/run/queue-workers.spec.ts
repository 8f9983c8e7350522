import { Redis } from 'ioredis';
import { expect, inject, it, vi } from 'vitest';
import { Worker } from 'bullmq';
import { z } from 'zod';
import { LifecycleApp } from '../../../../test/support/lifecycle-app.js';
import { until } from '../../../../test/support/until.js';
import { defineKind } from '../kinds/kind.js';
import { Handler, Handles } from './handler.js';

const never = defineKind({ name: 'test.never', queue: 'test', payload: z.object({}) });

@Handles(never)
class NeverHandler extends Handler<typeof never> {
  handle(): Promise<void> {
    throw new Error('No job comes.');
  }
}

it('ends at once while the connection on which it waits for jobs rests before it connects anew', async () => {
  const running = vi.spyOn(Worker.prototype, 'run');
  const resting = new Redis(inject('storeUrl'), { maxRetriesPerRequest: null, retryStrategy: () => 60_000 });
  const options = { drainMs: 20_000 };
  const app = await LifecycleApp.start([never], [NeverHandler], options, undefined, undefined, {
    redis: resting,
  });
  try {
    const [worker] = running.mock.contexts as [Worker];
    const waiting = await worker.backend.blockingConnection!.client;
    await until(() => waiting.status === 'ready', 'the worker waits for jobs');
    waiting.disconnect(true);
    await until(() => waiting.status === 'reconnecting', 'its connection is cut');
  } finally {
    running.mockRestore();
    await app.stop();
    resting.disconnect();
  }
  expect(app.facts.find(({ event }) => event === 'worker.drained')).toMatchObject({
    tookMs: expect.toSatisfy((ms: number) => ms < options.drainMs / 2),
  });
});
