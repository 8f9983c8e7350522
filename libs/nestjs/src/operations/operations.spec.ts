import { Owners } from '#core';
import type { INestApplicationContext } from '@nestjs/common';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { KindApp } from '../../../../test/support/kind-app.js';
import { until } from '../../../../test/support/until.js';
import {
  defineKind,
  Enqueuer,
  Handler,
  Handles,
  JobReader,
  Operations,
  OperationWorker,
  type AccessLimits,
  type OperationFilter,
  type OperationView,
} from '../index.js';
import { ApplicationQueues } from '../queues/application-queues.js';
import { MatchingJobs } from './matching-jobs.js';

const work = defineKind({ name: 'work', queue: 'work', payload: z.any() });
const other = defineKind({
  name: 'other',
  queue: 'other',
  payload: z.any(),
  attempts: 2,
  backoff: ['1h'],
});
const restless = defineKind({
  name: 'restless',
  queue: 'restless',
  payload: z.any(),
  attempts: 1_000,
  backoff: { type: 'fixed', delay: 5 },
});
const plain = defineKind({ name: 'plain', queue: 'plain', payload: z.any() });

let runs: string[] = [];
let tries = 0;
let letGo: () => void = () => {};

@Handles(work)
class WorkHandler extends Handler<typeof work> {
  async handle({ text }: { text: string }, { id }: { id: string }): Promise<void> {
    runs.push(id);
    throw new Error(text);
  }
}

@Handles(other)
class OtherHandler extends Handler<typeof other> {
  async handle({ holds }: { holds?: true }): Promise<string> {
    if (!holds) return 'well done';
    await new Promise<void>((resolve) => (letGo = resolve));
    throw new Error('too late');
  }
}

@Handles(restless)
class RestlessHandler extends Handler<typeof restless> {
  async handle(): Promise<void> {
    tries += 1;
    throw new Error('once more');
  }
}

const BY = 'ops';

describe('an operation', () => {
  let app: KindApp;
  let context: INestApplicationContext;

  beforeEach(async () => {
    runs = [];
    app = new KindApp();
    context = await app.startWorker([work, other, restless], [WorkHandler, OtherHandler, RestlessHandler], {
      sweeps: { timers: false, lock: 1_000 },
      worker: { concurrency: 20 },
    });
  });

  afterEach(() => app.stop());

  /** Adds jobs of these owners and waits until all have failed. */
  async function addFailed(owners: readonly string[], text = 'too hot'): Promise<string[]> {
    const before = runs.length;
    const tickets = owners.map((owner) =>
      context.get(Enqueuer).enqueue(work, { text }, { owners: [owner, 'site:1'] }),
    );
    const ids = (await Promise.all(tickets)).map(({ id }) => id);
    await until(() => runs.length === before + owners.length, 'all ran');
    for (const id of ids) await untilState(id, 'failed');
    return ids;
  }

  async function stateOf(id: string): Promise<string | undefined> {
    return (await context.get(JobReader).read(id))?.state;
  }

  function untilState(id: string, state: string): Promise<unknown> {
    return until(async () => (await stateOf(id)) === state, `${id} is ${state}`);
  }

  async function operate(
    action: OperationView['action'],
    filter: OperationFilter,
    dryRun = false,
    at = context,
  ): Promise<OperationView> {
    const { operationId } = await at.get(Operations).start({ action, filter, dryRun, by: BY });
    await at.get(OperationWorker).work();
    return (await at.get(Operations).get(operationId))!;
  }

  const trips = (count: number): string[] => Array.from({ length: count }, (_, i) => `trip:${i}`);

  it('retries each failed job once, also if it fails again meanwhile, and refuses those of closed owners', async () => {
    const ids = await addFailed(trips(250));
    await context.get(Owners).cancel('trip:3');

    const { operationId, ...done } = await operate('retry', { queue: 'work' });

    expect(done).toMatchObject({
      action: 'retry',
      filter: { queue: 'work' },
      state: 'done',
      matched: 250,
      done: 249,
      refused: 1,
      failed: 0,
      skipped: 0,
      by: BY,
      problems: [{ id: ids[3], outcome: 'refused', code: 'OWNER_CLOSED' }],
    });
    expect(done.samples).toHaveLength(20);
    await until(() => runs.length === 499, 'each ran again');
    for (const id of ids) await untilState(id, 'failed');
    expect(runs).toHaveLength(499);
    const told = app.facts.filter(({ event }) => event.startsWith('operation.'));
    expect(told).toMatchObject([
      { event: 'operation.asked', by: BY, operationId, action: 'retry' },
      { event: 'operation.done', by: BY, operationId, done: 249 },
    ]);
    await app.untilNothingIsLeft();
  });

  it('takes the jobs that its filter names, and no others', async () => {
    const [hot, cold] = [await addFailed(['trip:1', 'trip:2']), await addFailed(['trip:1'], 'too cold')];
    const split = new Date();
    await until(() => Date.now() > split.getTime() + 1, 'a later millisecond');
    const late = await addFailed(['trip:1']);
    const matched = async (filter: OperationFilter): Promise<string[]> => {
      const { samples, matched: count } = await operate('retry', filter, true);
      expect(samples).toHaveLength(count);
      return samples.map(({ id }) => id).toSorted();
    };

    expect(await matched({})).toEqual([...hot, ...cold, ...late].toSorted());
    expect(await matched({ kind: 'other' })).toEqual([]);
    expect(await matched({ kind: 'work', error: 'cold' })).toEqual(cold);
    expect(await matched({ owner: 'trip:2' })).toEqual([hot[1]]);
    expect(await matched({ before: split.toISOString() })).toEqual([...hot, ...cold].toSorted());
    expect(await matched({ owner: 'trip:1', error: 'hot', state: 'failed' })).toEqual(
      [hot[0]!, ...late].toSorted(),
    );
    expect(runs).toHaveLength(4);
  });

  it('is cut to what its caller is limited to', async () => {
    await addFailed(['trip:1', 'trip:2']);
    const found = async (limitedTo: AccessLimits): Promise<{ matched: number; seen: number }> => {
      const order = { action: 'retry', filter: {}, dryRun: true, by: BY, limitedTo } as const;
      const { operationId } = await context.get(Operations).start(order);
      await context.get(OperationWorker).work();
      const { matched, seen } = (await context.get(Operations).get(operationId))!;
      return { matched, seen };
    };

    expect(await found({ ownerTypes: ['trip', 'site'], kinds: ['work'], queues: ['work'] })).toEqual({
      matched: 2,
      seen: 2,
    });
    expect(await found({ ownerTypes: ['trip'] })).toEqual({ matched: 0, seen: 2 });
    expect(await found({ kinds: ['other'] })).toEqual({ matched: 0, seen: 0 });
    expect(await found({ queues: ['other'] })).toEqual({ matched: 0, seen: 0 });
  });

  it('cancels jobs that have not ended, by queue or by owner', async () => {
    const add = (owner: string): Promise<{ id: string }> =>
      context.get(Enqueuer).enqueue(work, { text: 'x' }, { owners: [owner], delay: '1h' });
    const mine = await Promise.all(Array.from({ length: 150 }, () => add('trip:1')));
    const others = await Promise.all(Array.from({ length: 5 }, () => add('trip:2')));

    expect(await operate('cancel', { owner: 'trip:1', state: 'delayed' }, true)).toMatchObject({
      matched: 150,
      done: 0,
      dryRun: true,
      samples: { length: 20 },
    });
    expect(await operate('cancel', { owner: 'trip:1' })).toMatchObject({ matched: 150, done: 150 });
    expect(await stateOf(mine[149]!.id)).toBe('removed');
    expect(await stateOf(others[0]!.id)).toBe('delayed');
    expect(await context.get(Owners).get('trip:1')).toBeUndefined();
    expect(await operate('cancel', { queue: 'work', kind: 'work' })).toMatchObject({ matched: 5, done: 5 });
    await app.untilNothingIsLeft();
  });

  it('cancels jobs that wait without a priority, and refuses those without an owner', async () => {
    const quiet = await app.start([plain], [], { sweeps: { timers: false } });
    const queue = quiet.get(ApplicationQueues).find('plain')!;
    const add = (count: number, owners: string[]): Promise<{ id?: string }[]> =>
      queue.addBulk(Array.from({ length: count }, () => ({ name: 'any', data: {}, opts: { owners } })));
    await add(230, ['trip:1']);
    const [unowned] = await queue.addBulk([{ name: 'any', data: {} }]);

    expect(await operate('cancel', { queue: 'plain', state: 'waiting' }, false, quiet)).toMatchObject({
      matched: 231,
      done: 230,
      refused: 1,
      problems: [{ id: unowned!.id, outcome: 'refused', code: 'NO_OWNER' }],
    });
    expect(await queue.getWaiting()).toMatchObject([{ id: unowned!.id }]);
    await queue.obliterate();
  });

  it('cancels a job that goes back to a delay once the delayed ones were read', async () => {
    const { id } = await context.get(Enqueuer).enqueue(other, { holds: true }, { owners: ['trip:1'] });
    await untilState(id, 'running');
    const matching = context.get(MatchingJobs);
    const next = matching.next.bind(matching);
    vi.spyOn(matching, 'next').mockImplementation(async (record, limit) => {
      if (record.position?.includes('active')) {
        letGo();
        await untilState(id, 'retrying');
      }
      return next(record, limit);
    });

    expect(await operate('cancel', { queue: 'other' })).toMatchObject({ matched: 1, done: 1, seen: 0 });
    expect(await stateOf(id)).toBe('removed');
    await app.untilNothingIsLeft();
  });

  it('cancels every job that has not ended, however often each is tried again meanwhile', async () => {
    const options = { owners: ['trip:1'] };
    const add = (): Promise<{ id: string }> => context.get(Enqueuer).enqueue(restless, {}, options);
    const ids = (await Promise.all(Array.from({ length: 100 }, add))).map(({ id }) => id);
    await until(() => tries > 200, 'they are tried again');

    const { state, matched, done, skipped } = await operate('cancel', { queue: 'restless' });

    expect({ state, done, skipped }).toEqual({ state: 'done', done: 100, skipped: matched - 100 });
    for (const id of ids)
      await until(async () => /removed|cancelled/.test((await stateOf(id))!), `${id} is gone`);
    await app.untilNothingIsLeft();
  });

  it('removes ended jobs, and says by whom', async () => {
    const [failed] = await addFailed(['trip:1']);
    const { id: completed } = await context.get(Enqueuer).enqueue(other, {}, { owners: ['trip:1'] });
    await untilState(completed, 'completed');

    const { operationId, ...done } = await operate('remove', { owner: 'trip:1' });

    expect(done).toMatchObject({ matched: 2, done: 2, state: 'done' });
    for (const id of [failed!, completed]) expect(await stateOf(id)).toBe('removed');
    expect((await context.get(JobReader).read(failed!))?.why).toBe(
      `removed: operation ${operationId} by ops (it was failed)`,
    );
  });

  it('counts by kind and error in a dry run, the largest groups first, and fails for a kind that there is not', async () => {
    for (let i = 0; i < 12; i += 1) await addFailed(['trip:1'], `no seat ${i}\nat the window`);
    await addFailed(trips(3), 'x'.repeat(300));
    await addFailed(trips(2), 'too hot');

    const { matched, groups } = await operate('retry', {}, true);

    expect(matched).toBe(17);
    expect(groups).toHaveLength(10);
    expect(groups).toMatchObject([
      { kind: 'work', error: 'x'.repeat(200), count: 3 },
      { kind: 'work', error: 'too hot', count: 2 },
      { kind: 'work', error: expect.stringMatching(/^no seat \d+$/), count: 1 },
      ...Array.from({ length: 7 }, () => ({ count: 1 })),
    ]);
    expect(await operate('remove', { kind: 'work', error: 'hot' })).not.toHaveProperty('groups');
    expect(await operate('retry', { kind: 'wrok' }, true)).toMatchObject({
      state: 'failed',
      matched: 0,
      why: 'There is no kind named "wrok". Did you mean work?',
    });
  });

  it('enters the ended jobs that it removes in the histories of their owners, as far as there is room', async () => {
    const ids = await addFailed(['trip:1', 'trip:2']);
    const fill = Array.from({ length: 999 }, () => '1 cancelled work:old');
    await app.redis.rpush(`${app.prefix}~history~trip:2`, ...fill);
    await app.redis.rpush(`${app.prefix}~history~site:1`, ...fill, '1 cancelled work:old');

    await operate('remove', { owner: 'site:1' });

    const owners = context.get(Owners);
    expect(await owners.history('trip:1')).toMatchObject([{ id: ids[0], queue: 'work', reason: 'removed' }]);
    expect((await owners.history('trip:2'))[0]).toMatchObject({ id: ids[1], reason: 'removed' });
    expect((await owners.history('site:1'))[0]).toMatchObject({ id: 'old' });
  });

  it('is refused if no job can match, or a queue is unknown', async () => {
    const start = (action: OperationView['action'], filter: OperationFilter): Promise<unknown> =>
      context.get(Operations).start({ action, filter, by: BY });

    await expect(start('retry', { state: 'completed' })).rejects.toMatchObject({ code: 'INVALID' });
    await expect(start('remove', { state: 'running' })).rejects.toMatchObject({ code: 'INVALID' });
    await expect(start('cancel', { queue: 'nothing' })).rejects.toMatchObject({ code: 'INVALID' });
    await expect(start('cancel', { owner: 'nothing' })).rejects.toMatchObject({ code: 'INVALID' });
    await expect(start('cancel', { before: 'soon' })).rejects.toMatchObject({ code: 'INVALID' });
  });

  it('that is stopped changes nothing more', async () => {
    await addFailed(['trip:1']);
    const operations = context.get(Operations);
    const { operationId } = await operations.start({ action: 'retry', filter: {}, by: BY });

    expect(await operations.stop(operationId, 'else')).toMatchObject({
      state: 'stopped',
      why: 'Stopped by else.',
    });

    await context.get(OperationWorker).work();
    expect(runs).toHaveLength(1);
    expect(await operations.get(operationId)).toMatchObject({ state: 'stopped', done: 0 });
    expect((await operations.list()).operations.map((each) => each.operationId)).toEqual([operationId]);
    expect(await operations.stop('op-none', 'else')).toBeUndefined();
  });

  it('that two processes work at, because a lock was lost, changes each job once', async () => {
    const second = await app.start([work], [], { sweeps: { timers: false, lock: 1_000 } });
    const ids = await addFailed(trips(250));
    const { operationId } = await context.get(Operations).start({ action: 'retry', filter: {}, by: BY });
    const lock = `${app.prefix}~sweeps~lock~operations`;

    await until(async () => {
      // As if the process that has it had been paused for too long.
      await app.redis.hset(lock, 'until', 0);
      void context.get(OperationWorker).work();
      void second.get(OperationWorker).work();
      return (await context.get(Operations).get(operationId))?.state === 'done';
    }, 'it is done');

    await until(() => runs.length === 500, 'each ran again');
    for (const id of ids) await untilState(id, 'failed');
    expect(runs).toHaveLength(500);
    expect(await context.get(Operations).get(operationId)).toMatchObject({ matched: 250, done: 250 });
  });

  it('whose page is done again after a crash changes nothing twice', async () => {
    const ids = await addFailed(trips(30));
    const { operationId } = await context.get(Operations).start({ action: 'retry', filter: {}, by: BY });
    const before = await recordOf(operationId);
    await context.get(OperationWorker).work();
    await until(() => runs.length === 60, 'each ran again');
    for (const id of ids) await untilState(id, 'failed');
    const pending = await Promise.all(
      ids.map(async (id) => ({
        id,
        queue: 'work',
        set: 'failed',
        at: Number(await app.redis.hget(`${app.prefix}:work:${id}`, 'finishedOn')),
      })),
    );
    // As if the process had died before it counted, and its jobs had failed at the same time once more.
    const lost = { ...before, state: 'running', matched: 30, pending, isSeen: true };
    await app.redis.hset(`${app.prefix}~sweeps~operation~${operationId}`, 'record', JSON.stringify(lost));
    await app.redis.zadd(`${app.prefix}~sweeps~operations-open`, 1, operationId);

    await context.get(OperationWorker).work();

    expect(await context.get(Operations).get(operationId)).toMatchObject({ state: 'done', done: 30 });
    // A job that waited again would not have failed yet.
    for (const id of ids) await untilState(id, 'failed');
    expect(runs).toHaveLength(60);
  });

  async function recordOf(id: string): Promise<object> {
    return JSON.parse((await app.redis.hget(`${app.prefix}~sweeps~operation~${id}`, 'record'))!) as object;
  }
});
