import type { Job } from 'bullmq';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { until } from '../support/until.js';
import { Board, type ShownJob } from './board.js';
import { Shop } from './shop.js';

describe('bull-board with an application with owners', () => {
  let shop: Shop;
  let board: Board;

  beforeEach(async () => {
    shop = await Shop.open();
    await shop.startMoored();
    board = shop.keep(await Board.serve([shop.uploads.audio, shop.uploads.mail]));
  });

  afterEach(() => shop.close());

  async function failedJob(): Promise<Job> {
    const job = await shop.uploads.transcode('ada', { fails: true });
    await until(() => job.isFailed(), 'it has failed');
    return job;
  }

  it('shows payloads and options as they were added', async () => {
    await shop.uploads.audio.pause();
    await shop.uploads.transcode('ada', { fails: false });
    await shop.plainQueue('audio').add('plain', { n: 1 });

    const shown = await board.jobs('audio', 'latest');

    expect(shown.map(({ name, data, opts }) => ({ name, data, owners: opts['owners'] }))).toEqual(
      expect.arrayContaining([
        { name: 'transcode', data: { fails: false }, owners: ['user:ada'] },
        { name: 'plain', data: { n: 1 }, owners: undefined },
      ]),
    );
    expect(JSON.stringify(shown)).not.toContain('mooring');
  });

  it("shows payloads without Mooring's mark, even over a plain queue; the mark is one of the options", async () => {
    await shop.uploads.audio.pause();
    await shop.uploads.transcode('ada', { fails: false });
    const beside = shop.keep(await Board.serve([shop.plainQueue('audio')]));

    const [shown] = await beside.jobs('audio', 'prioritized');

    expect(shown!.data).toEqual({ fails: false });
    expect(Object.keys(shown!.opts)).toContain('mooring');
  });

  it('retries a failed job of an owner', async () => {
    const job = await failedJob();

    const { status } = await board.call('PUT', `queues/audio/${job.id}/retry`);

    expect(status).toBe(204);
    await until(() => job.isCompleted(), 'it is completed');
    expect(await shop.owners.get('user:ada')).toBeUndefined();
  });

  it('retries all failed jobs at once', async () => {
    const jobs = [await failedJob(), await failedJob()];

    const { body } = await board.call('PUT', 'queues/audio/retry/failed');

    expect(body).toMatchObject({ retried: 2 });
    for (const job of jobs) await until(() => job.isCompleted(), 'it is completed');
  });

  it('reports that the owner is closed instead of retrying, and the job keeps its error', async () => {
    const job = await failedJob();
    await shop.owners.cancel('user:ada');

    const { status, body } = await board.call('PUT', `queues/audio/${job.id}/retry`);

    expect(status).toBe(500);
    expect(JSON.stringify(body)).toContain('user:ada is closed: it was cancelled and takes no new jobs.');
    const [shown] = (await board.jobs('audio', 'failed')) as [ShownJob];
    expect(shown).toMatchObject({ id: job.id, failedReason: 'the file cannot be read' });
  });

  it('keeps the owners of a job whose data are edited', async () => {
    await shop.uploads.audio.pause();
    const job = await shop.uploads.transcode('ada', { fails: false });

    await board.call('PATCH', `queues/audio/${job.id}/update-data`, { jobData: { edited: true } });

    const [shown] = await board.jobs('audio', 'prioritized');
    expect({ data: shown!.data, owners: shown!.opts['owners'] }).toEqual({
      data: { edited: true },
      owners: ['user:ada'],
    });
    expect(await shop.owners.cancel('user:ada', { wait: 'drained' })).toMatchObject({
      removed: 1,
      done: true,
    });
  });

  it('removes a job and its entry in the index of its owner', async () => {
    await shop.uploads.audio.pause();
    const job = await shop.uploads.transcode('ada');

    await board.call('PUT', `queues/audio/${job.id}/clean`);

    expect(await shop.owners.get('user:ada')).toBeUndefined();
  });

  it('edits a schedule, which keeps its owner', async () => {
    await shop.uploads.audio.pause();
    const template = { name: 'peaks', data: {}, opts: { owners: ['user:ada'] } };
    await shop.uploads.audio.upsertJobScheduler('peaks', { every: 60_000 }, template);

    const { status } = await board.call('PATCH', 'queues/audio/job-schedulers/peaks', { every: 50_000 });

    expect(status).toBe(204);
    expect(await shop.uploads.audio.getJobScheduler('peaks')).toMatchObject({ every: 50_000 });
    expect((await shop.owners.get('user:ada'))?.count).toBe(1);
    await shop.owners.cancel('user:ada', { wait: 'drained' });
    expect(await shop.uploads.audio.getJobSchedulersCount()).toBe(0);
  });

  it('adds a copy of a job for the same owner', async () => {
    await shop.uploads.audio.pause();
    const job = await shop.uploads.transcode('ada', { fails: false });
    const { opts } = (await board.jobs('audio', 'prioritized'))[0]!;

    const { status } = await board.call('POST', 'queues/audio/add', {
      name: job.name,
      data: job.data,
      options: opts,
    });

    expect(status).toBe(200);
    expect((await shop.owners.get('user:ada'))?.count).toBe(2);
  });
});
