import { MooredQueue } from '#core';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { until } from '../support/until.js';
import { ownersOf } from './audio.processor.js';
import { MailProcessor } from './mail.processor.js';
import { Shop } from './shop.js';

const WAITING = 1_000;
/** 1,000 jobs of 50 users. */
const JOBS_OF_A_USER = 20;

describe('an application that replaces its BullMQ classes', () => {
  let shop: Shop;

  beforeEach(async () => {
    shop = await Shop.open();
  });

  afterEach(() => shop.close());

  /** The plain application has run for a while, and a plain producer has filled its queues. */
  async function liveThePast(): Promise<{ failed: string; jobs: string[] }> {
    await shop.startPlain();
    const { audio } = shop.uploads;
    const failed = await audio.add('broken', { fails: true });
    const done = await audio.add('transcode', { userId: 'u0' });
    await until(async () => (await failed.isFailed()) && done.isCompleted(), 'both have ended');
    await shop.stopApp();
    return { failed: failed.id!, jobs: await shop.addByPlainProducer(WAITING) };
  }

  it('runs every old job of every kind once, and leaves ended ones as they were', async () => {
    const { failed, jobs } = await liveThePast();

    await shop.startMoored();
    await shop.nothingWaits('audio', 'mail');
    await until(() => shop.ledger.ran('later').length === 1, 'the delayed job has run');
    await until(() => shop.ledger.ran('albumIsReady').length === 1, 'the parent has run');

    const ran = shop.ledger.entries.map(({ job }) => job);
    expect(jobs.filter((job) => !ran.includes(job))).toEqual([]);
    expect(ran.length).toBe(new Set(ran).size);
    expect(shop.ledger.ran('generateWaveform')).toEqual([
      { job: 'audio:waveform-of-a', name: 'generateWaveform', data: { path: '/a' } },
    ]);
    expect(shop.ledger.ran('sendWelcome')[0]?.data).toBe('a text, not an object');
    expect(await shop.plainQueue('mail').getJobCounts('failed')).toEqual({ failed: 0 });
    const audio = shop.plainQueue('audio');
    expect((await audio.getFailed()).map(({ id }) => id)).toEqual([failed]);

    await (await shop.uploads.audio.getJob(failed))!.retry();
    await until(async () => (await audio.getJobCountByTypes('failed')) === 0, 'the old failed job has run');
  });

  it('continues the old schedules and ends that of an owner', async () => {
    await liveThePast();
    await shop.startMoored();
    await until(() => shop.ledger.ran('digest').length >= 2, 'two turns without owners');
    await until(() => shop.ledger.ran('peaks').length >= 2, 'two turns of a user');

    await shop.owners.cancel('user:u3', { wait: 'drained' });

    const ran = shop.ledger.ran('peaks').length;
    const digests = shop.ledger.ran('digest').length;
    await until(() => shop.ledger.ran('digest').length >= digests + 3, 'the other goes on');
    expect(shop.ledger.ran('peaks').length).toBe(ran);
    expect((await shop.uploads.audio.getJobSchedulers()).map(({ key }) => key)).toEqual([]);
    expect((await shop.uploads.mail.getJobSchedulers()).map(({ key }) => key)).toEqual(['digest']);
  });

  it('ends the waiting jobs of an owner once the queue has adopted them', async () => {
    await liveThePast();
    const audio = shop.keep(new MooredQueue('audio', { connection: shop.connection }));

    const adoption = await audio.adopt({ ownersOf });
    const again = await audio.adopt({ ownersOf });
    const receipt = await shop.owners.cancel('user:u7', { wait: 'drained' });

    // The 1,000, the urgent, the delayed and the scheduled job, and three children.
    expect(adoption).toMatchObject({ adopted: WAITING + 6, removed: 0, failed: 0 });
    expect(again).toMatchObject({ adopted: 0, removed: 0, failed: 0 });
    expect(receipt).toMatchObject({ removed: JOBS_OF_A_USER, aborted: 0, done: true });
    await shop.startMoored();
    await shop.nothingWaits('audio', 'mail');
    expect(shop.ledger.ran('transcode').length).toBe(WAITING - JOBS_OF_A_USER);
    expect(usersOf(shop)).not.toContain('u7');
    // The delayed job may run last.
    await until(
      async () => (await shop.ownersWithJobs()).join() === 'user:u3',
      'only the schedule has a job to run',
    );
  });

  it('ends waiting jobs of a closed owner that were not adopted when a worker fetches them', async () => {
    await liveThePast();

    const receipt = await shop.owners.cancel('user:u7');
    await shop.startMoored();
    await shop.nothingWaits('audio', 'mail');

    // The index does not contain them yet: the receipt reports that, and the history records them as they end.
    expect(receipt).toMatchObject({ removed: 0, closed: true });
    expect(usersOf(shop)).not.toContain('u7');
    expect(await shop.owners.history('user:u7')).toHaveLength(JOBS_OF_A_USER);
    expect(await shop.plainQueue('audio').getJobCounts('failed')).toEqual({ failed: 1 });
  });

  it('removes jobs of a closed owner during the adoption', async () => {
    await liveThePast();
    const audio = shop.keep(new MooredQueue('audio', { connection: shop.connection }));
    await shop.owners.cancel('user:u2');

    const { removed } = await audio.adopt({ ownersOf });

    // The owner's twenty jobs, and the children of the album, whose parent fails as it does for any failed child.
    expect(removed).toBe(JOBS_OF_A_USER + 3);
    const waiting = await audio.getWaiting();
    expect(waiting.filter(({ data }) => data.userId === 'u2')).toEqual([]);
    await shop.startMoored();
    const [parent] = await until(async () => {
      const failed = await shop.plainQueue('mail').getFailed();
      return failed.length > 0 && failed;
    }, 'the parent has failed');
    expect(parent).toMatchObject({ name: 'albumIsReady', failedReason: expect.stringContaining('child') });
    expect(usersOf(shop)).not.toContain('u2');
  });

  it('cancels jobs of its own producers: waiting ones, running ones and a whole flow', async () => {
    await shop.startMoored();
    const { uploads, ledger } = shop;
    const running = await uploads.transcode('ada', { untilStopped: true });
    await until(() => ledger.entries.length === 1, 'it runs');
    await uploads.audio.pause();
    await uploads.transcode('ada');
    await uploads.album('ada', 3);
    await uploads.transcode('bob');

    const receipt = await shop.owners.cancel('user:ada', { wait: 'drained' });

    expect(receipt).toMatchObject({ removed: 5, aborted: 1, acknowledged: 1, done: true });
    expect(ledger.stopped).toEqual([running.id]);
    await uploads.audio.resume();
    await until(() => ledger.entries.length === 2, 'the job of another owner runs');
    await shop.nothingWaits('audio', 'mail');
    await until(async () => (await uploads.audio.getCompletedCount()) === 1, 'it is completed');
    expect(await uploads.audio.getJobCounts('completed', 'failed')).toEqual({ completed: 1, failed: 0 });
    expect(shop.part(MailProcessor).completed).toEqual([]);
    await expect(uploads.transcode('ada')).rejects.toThrow('user:ada is closed');
  });

  it('passes the options of its decorators and modules to the queues and workers', async () => {
    await shop.startMoored();
    const { audio, mail } = shop.uploads;
    await audio.pause();
    await Promise.all(Array.from({ length: 100 }, () => shop.uploads.transcode('ada')));

    await expect(shop.uploads.transcode('ada')).rejects.toThrow('user:ada has as many jobs as it may have');

    const hanging = await mail.add('hangs', {});
    await until(() => hanging.isCompleted(), 'its signal was aborted after the runTimeout of its processor');
  });

  it('completes a flow of an owner over two queues', async () => {
    await shop.startMoored();

    const { job } = await shop.uploads.album('ada', 2);

    await until(() => shop.part(MailProcessor).completed.includes(job.id!), 'the parent is completed');
    expect(Object.values(shop.ledger.ran('transcode').map(({ data }) => data))).toEqual([
      { track: 0 },
      { track: 1 },
    ]);
    expect(await shop.keys('bull~owner~*')).toEqual([]);
  });
});

function usersOf(shop: Shop): (string | undefined)[] {
  return shop.ledger.entries.map(({ data }) => (data as { userId?: string }).userId);
}
