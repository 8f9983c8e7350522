import type { Job } from 'bullmq';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CoreKit, until } from '../../../../test/support/core-kit.js';

describe('a job that its worker fetches again while its lost run continues', () => {
  let kit: CoreKit;

  beforeEach(() => {
    kit = new CoreKit();
  });

  afterEach(() => kit.stop());

  it('begins when the lost run has ended, and is told of its cancel', async () => {
    const events: string[] = [];
    const run = async (_: Job, _token?: string, signal?: AbortSignal): Promise<void> => {
      const number = events.filter((event) => event.startsWith('began')).length + 1;
      events.push(`began ${number}`);
      // The lost run also ends by itself.
      for (const end = Date.now() + (number === 1 ? 1_000 : 20_000); Date.now() < end && !signal!.aborted;)
        await pause(5);
      await pause(100);
      events.push(`ended ${number} ${signal!.aborted ? signal!.reason : 'by itself'}`);
      throw new Error('stopped');
    };
    kit.worker(run, { concurrency: 2, stalledInterval: 50, lockDuration: 10_000, maxStalledCount: 9 });
    const job = await kit.queue().add('x', {}, { owners: ['track:1'], attempts: 9 });
    await until(() => events.length === 1, 'it runs');

    await kit.redis.del(`${kit.prefix}:audio:${job.id}:lock`);
    await until(() => events.includes('began 2'), 'it runs again');
    await until(() => events.some((event) => event.startsWith('ended 1')), 'the lost run has ended');
    const receipt = await kit.owners.cancel('track:1', { close: false, wait: 'drained', waitFor: '5s' });

    expect(receipt).toMatchObject({ aborted: 1, acknowledged: 1, done: true });
    expect(events).toEqual(['began 1', 'ended 1 lost', 'began 2', 'ended 2 cancelled']);
    expect(kit.errors.splice(0)).toMatchObject([{ code: -6 }]);
    await kit.nothingLeft();
  });
});
