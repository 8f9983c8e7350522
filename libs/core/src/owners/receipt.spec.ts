import type { Job } from 'bullmq';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CoreKit, until, untilStopped } from '../../../../test/support/core-kit.js';

describe('a receipt', () => {
  let kit: CoreKit;

  beforeEach(() => {
    kit = new CoreKit();
  });

  afterEach(() => kit.stop());

  it('counts runs that did not stop in time separately', async () => {
    const queue = kit.queue();
    const opts = { owners: ['track:1'], attempts: 3 };
    await queue.addBulk(['stops', 'goes on'].map((name) => ({ name, data: {}, opts })));
    let begun = 0;
    const run = (job: Job, token?: string, signal?: AbortSignal): Promise<void> => {
      begun += 1;
      return job.name === 'stops' ? untilStopped(job, token, signal) : new Promise(() => undefined);
    };
    kit.worker(run, { stopGrace: '500ms' });
    await until(() => begun === 2, 'both run');

    const receipt = await kit.owners.cancel('track:1', { wait: 'drained' });

    expect(receipt).toMatchObject({ aborted: 2, acknowledged: 2, abandoned: 1, done: true });
  });

  it('names a job that was cancelled alone, and counts the schedulers that ended with an owner', async () => {
    const queue = kit.queue();
    const job = await queue.add('x', {}, { owners: ['track:1'] });
    await queue.upsertJobScheduler('s', { every: 60_000 }, { name: 'x', opts: { owners: ['track:1'] } });

    const [ofJob, ofOwner] = [
      await kit.owners.cancelJob('audio', job.id!),
      await kit.owners.cancel('track:1'),
    ];

    expect(ofJob).toMatchObject({ job: { queue: 'audio', id: job.id }, schedules: 0 });
    expect(ofOwner).toMatchObject({ schedules: 1 });
    expect(ofOwner).not.toHaveProperty('job');
  });
});
