import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CoreKit, until, untilStopped } from '../../../../test/support/core-kit.js';

describe('what is remembered of jobs that were removed', () => {
  let kit: CoreKit;

  beforeEach(() => {
    kit = new CoreKit();
  });

  afterEach(() => kit.stop());

  const find = async (id: string | undefined) => (await kit.owners.removals('audio', [id!]))[0];

  it('says what a job was that waited, and which cancel removed it', async () => {
    const owners = ['track:a|b', 'user:9'];
    const job = await kit.queue().add('encode', {}, { owners, delay: 60_000 });

    const { at } = await kit.owners.cancel('track:a|b', { cancelId: 'c 1' });

    expect(await find(job.id)).toEqual({
      at: expect.any(Number),
      why: 'cancelled',
      owners,
      name: 'encode',
      state: 'delayed',
      cancelId: 'c 1',
      added: job.timestamp,
    });
    expect((await find(job.id))!.at).toBeGreaterThanOrEqual(at);
    expect(await find('another')).toBeUndefined();
  });

  it('says of a run that it was stopped, and of one that did not stop that it was abandoned', async () => {
    const queue = kit.queue();
    const [stops, ignores] = await queue.addBulk(
      ['stops', 'ignores'].map((name) => ({ name, data: {}, opts: { owners: ['track:1'] } })),
    );
    kit.worker(
      (job, token, signal) =>
        job.name === 'stops' ? untilStopped(job, token, signal) : new Promise(() => undefined),
      { stopGrace: '50ms' },
    );
    await until(async () => (await queue.getActiveCount()) === 2, 'both run');

    const receipt = await kit.owners.cancel('track:1', { cancelId: 'c', wait: 'drained' });

    expect(receipt).toMatchObject({ aborted: 2, acknowledged: 2, abandoned: 1, done: true });
    for (const job of [stops, ignores])
      expect(await find(job!.id)).toMatchObject({
        why: 'cancelled',
        state: 'running',
        cancelId: 'c',
        begun: expect.any(Number),
      });
  });

  it('says which job of a cancel of single jobs was meant, and which schedulers ended with an owner', async () => {
    const queue = kit.queue();
    const job = await queue.add('x', {}, { owners: ['track:1'] });
    await queue.upsertJobScheduler('s', { every: 60_000 }, { name: 'x', opts: { owners: ['track:1'] } });

    expect(await kit.owners.cancelJob('audio', job.id!)).toMatchObject({
      job: { queue: 'audio', id: job.id },
    });
    expect(await kit.owners.cancel('track:1')).toMatchObject({ schedules: 1 });
  });

  it('names a job that expired', async () => {
    const queue = kit.queue();
    const job = await queue.add('x', {}, { owners: ['track:1'], expiresIn: 1 });
    await until(() => Date.now() > job.timestamp + 5, 'it is too late');
    kit.worker(async () => undefined);
    await until(async () => (await find(job.id)) !== undefined, 'it was refused');

    expect(await find(job.id)).toMatchObject({ why: 'expired', name: 'x', state: 'refused' });
  });

  it('keeps apart what sweeps note, so that this pushes nothing else out', async () => {
    const job = await kit.queue().add('x', {}, { owners: ['track:1'] });
    await kit.owners.cancel('track:1');
    const retired = { at: 1, why: 'retention', owners: ['track:2'], name: 'y', reason: 'old', by: 'janitor' };
    const many = Array.from({ length: 2_100 }, (_, i) => [`old-${i}`, retired] as const);
    for (let i = 0; i < 6; i += 1)
      await kit.owners.noteRetired('audio', new Map(many.map(([id, was]) => [`${id}-${i}`, was])));

    expect(await find('old-7-5')).toEqual(retired);
    expect(await find('old-7-0')).toBeUndefined();
    expect(await find(job.id)).toMatchObject({ why: 'cancelled' });
    for (const list of ['removed', 'retired', 'removed-order', 'retired-order'])
      expect(await kit.redis.pttl(`${kit.prefix}~${list}~audio`)).toBeGreaterThan(0);
    expect(await kit.redis.hlen(`${kit.prefix}~retired~audio`)).toBe(10_000);
  });
});
