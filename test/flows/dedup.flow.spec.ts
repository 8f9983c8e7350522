import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Fleet, type Answer } from '../support/fleet.js';
import { until } from '../support/until.js';

type Strategy = 'none' | 'skip' | 'replace' | 'coalesce';

/** Longer than the few requests of a test take. */
const BUSY_MS = 2_000;
/** Fails on every run, so a job that completes ran with another payload. */
const FIRST = { failTimes: 3 };
const NEWEST = { failTimes: 0 };

/**
 * Every row of the table: the outcome of a trigger, by the jobs of its key. Two fleets run at once, because the tests
 * mostly wait; the tests of one fleet run one after the other, because they pause its queue.
 */
describe.concurrent.each([
  ['its kind', undefined],
  ['its key', 'site:a|{*}'],
])('a trigger that is deduplicated by %s', (_what, key) => {
  let fleet: Fleet;
  let owner: string;
  let owners = 0;
  beforeAll(async () => (fleet = await Fleet.start({ env: { WORKER_CONCURRENCY: '1' } })));
  afterAll(() => fleet.stop());

  function trigger(strategy: Strategy, payload: object, more: object = {}): Promise<Answer> {
    const dedup = { strategy, ...(key !== undefined && { key }) };
    return fleet.request('POST', '/v1/jobs', { kind: 'probe', owners: [owner], payload, dedup, ...more });
  }

  /** Pauses the queue: jobs enqueued from now on stay pending until `resume`. */
  async function hold(): Promise<void> {
    owner = `site:${(owners += 1)}`;
    await pause();
  }

  async function pause(): Promise<void> {
    expect((await fleet.request('POST', '/v1/admin/queues/probe/pause')).status).toBe(200);
  }

  async function resume(): Promise<void> {
    expect((await fleet.request('POST', '/v1/admin/queues/probe/resume')).status).toBe(200);
  }

  async function running(more: object = {}): Promise<string> {
    owner = `site:${(owners += 1)}`;
    const id = idOf(await trigger('skip', { ms: BUSY_MS, ...more }));
    await untilBegun();
    return id;
  }

  /** Waits until a worker has begun the job. That the job has left its queue is not enough. */
  async function untilBegun(): Promise<void> {
    await until(async () => (await view(fleet, owner)).running === 1, 'it has begun');
  }

  /** Waits until this owner has no job left; returns the ids of its runs in the order in which they began. */
  async function runsToTheEnd(): Promise<unknown[]> {
    await resume();
    await until(async () => (await view(fleet, owner)).jobs === 0, 'the owner has no job left');
    const begun = await begunSoFar();
    return begun.filter((fact) => fact['owner'] === owner).map(({ jobId }) => jobId);
  }

  /** The log of a worker is in order: when it contains a later job, it contains every earlier one. */
  async function begunSoFar(): Promise<Record<string, unknown>[]> {
    const last = await fleet.probe();
    const begun = (): Record<string, unknown>[] =>
      fleet.workers[0]!.facts().filter(({ event }) => event === 'job.began');
    return until(() => begun().some(({ jobId }) => jobId === last) && begun(), 'the worker has logged it');
  }

  /** The job was removed from its queue, or refused by a worker that had just fetched it. */
  async function expectReplaced(id: string, by: string): Promise<void> {
    const { state, error } = await fleet.job(id);
    const ends = ['waiting', 'delayed'].map(
      (was) => `cancelled by ${by}: replaced by newer job (it was ${was})`,
    );
    expect([...ends.map((end) => `removed, ${end}`), 'cancelled, replaced by newer job']).toContain(
      `${state}, ${error}`,
    );
  }

  describe.sequential('while a duplicate is pending', () => {
    it('none: creates a second job', async () => {
      await hold();
      const first = await trigger('none', NEWEST);
      const second = await trigger('none', NEWEST);

      expect([summary(first), summary(second)]).toEqual([
        { status: 201, outcome: 'created', id: idOf(first) },
        { status: 201, outcome: 'created', id: idOf(second) },
      ]);
      expect(idOf(second)).not.toBe(idOf(first));
      expect(await runsToTheEnd()).toEqual([idOf(first), idOf(second)]);
    });

    it('skip: creates no job and returns the id of the pending one', async () => {
      await hold();
      const first = await trigger('skip', NEWEST);
      const second = await trigger('skip', FIRST);

      expect(summary(second)).toEqual({ status: 200, outcome: 'skipped', id: idOf(first) });
      expect(await runsToTheEnd()).toEqual([idOf(first)]);
      expect(await fleet.job(idOf(first))).toMatchObject({ state: 'completed', attempts: 1 });
    });

    it('replace: takes the place of the pending job, which is cancelled', async () => {
      await hold();
      const first = await trigger('replace', FIRST);
      const second = await trigger('replace', NEWEST);

      expect(summary(second)).toEqual({
        status: 201,
        outcome: 'replaced',
        id: idOf(second),
        replaced: idOf(first),
      });
      expect(await runsToTheEnd()).toEqual([idOf(second)]);
      expect(await fleet.job(idOf(second))).toMatchObject({ state: 'completed', attempts: 1 });
      await expectReplaced(idOf(first), idOf(second));
    });

    it('coalesce: creates no job, and the pending one runs with the newest payload', async () => {
      await hold();
      const first = await trigger('coalesce', FIRST);
      const second = await trigger('coalesce', FIRST);
      const third = await trigger('coalesce', NEWEST);

      const coalesced = { status: 200, outcome: 'coalesced', id: idOf(first) };
      expect([summary(second), summary(third)]).toEqual([coalesced, coalesced]);
      expect(await runsToTheEnd()).toEqual([idOf(first)]);
      expect(await fleet.job(idOf(first))).toMatchObject({ state: 'completed', attempts: 1 });
    });

    it('coalesce: makes a pending job that is delayed by an hour start now', async () => {
      await hold();
      const first = await trigger('coalesce', FIRST, { delay: '1h' });
      const second = await trigger('coalesce', NEWEST);

      expect(summary(second)).toEqual({ status: 200, outcome: 'coalesced', id: idOf(first) });
      expect(await runsToTheEnd()).toEqual([idOf(first)]);
      expect(await fleet.job(idOf(first))).toMatchObject({ state: 'completed', attempts: 1 });
    });

    it('coalesce: makes the pending job wait for the delay of the newest trigger', async () => {
      owner = `site:${(owners += 1)}`;
      const first = await trigger('coalesce', FIRST, { delay: '1h' });
      const asked = Date.now();
      await trigger('coalesce', NEWEST, { delay: '400ms' });

      const job = await fleet.untilState(idOf(first), 'completed');
      const began = job.timeline.find(({ event }) => event === 'began')!;
      expect(Date.parse(began.at) - asked).toBeGreaterThanOrEqual(400);
    });

    it('skip: leaves the delay of the pending job', async () => {
      owner = `site:${(owners += 1)}`;
      const first = await trigger('skip', NEWEST, { delay: '1h' });
      await trigger('skip', NEWEST);
      expect(await fleet.job(idOf(first))).toMatchObject({ state: 'delayed' });
    });

    it('replace: replaces a delayed job by one without a delay', async () => {
      owner = `site:${(owners += 1)}`;
      const first = await trigger('replace', FIRST, { delay: '1h' });
      const second = await trigger('replace', NEWEST);

      expect(second.body).toMatchObject({ outcome: 'replaced', replaced: idOf(first) });
      expect(await runsToTheEnd()).toEqual([idOf(second)]);
      await expectReplaced(idOf(first), idOf(second));
    });
  });

  it.sequential.each<Strategy>(['none', 'skip', 'replace', 'coalesce'])(
    'while a duplicate only runs, %s: creates a job',
    async (strategy) => {
      const runs = await running();
      const second = await trigger(strategy, NEWEST);

      expect(summary(second)).toEqual({ status: 201, outcome: 'created', id: idOf(second) });
      expect(idOf(second)).not.toBe(runs);
      expect(await runsToTheEnd()).toEqual([runs, idOf(second)]);
      expect(await fleet.job(runs)).toMatchObject({ state: 'completed', attempts: 1 });
    },
  );

  it.sequential.each<[Strategy, number, string]>([
    ['none', 201, 'created'],
    ['skip', 200, 'skipped'],
    ['replace', 201, 'replaced'],
    ['coalesce', 200, 'coalesced'],
  ])(
    'while one job runs and one is pending, %s: applies to the pending one',
    async (strategy, status, outcome) => {
      const runs = await running();
      const pending = idOf(
        await trigger('skip', strategy === 'skip' || strategy === 'none' ? NEWEST : FIRST),
      );
      const third = await trigger(strategy, NEWEST);

      const { id, ...answer } = summary(third);
      expect(answer).toEqual({ status, outcome, ...(strategy === 'replace' && { replaced: pending }) });
      expect(id === pending).toBe(strategy === 'skip' || strategy === 'coalesce');
      const last = strategy === 'none' ? [pending, id] : [id];
      expect(await runsToTheEnd()).toEqual([runs, ...last]);
      expect(await fleet.job(idOf(third))).toMatchObject({ state: 'completed', attempts: 1 });
      expect(await fleet.job(runs)).toMatchObject({ state: 'completed', attempts: 1 });
      if (strategy === 'replace') await expectReplaced(pending, String(id));
    },
  );

  it.sequential(
    '51 times with skip, while a worker starts the job before the 50th, makes exactly 2 runs',
    async () => {
      await hold();
      const before = await Promise.all(Array.from({ length: 49 }, () => trigger('skip', { ms: BUSY_MS })));
      const [first, ...others] = [...new Set(before.map(idOf))];
      expect(others).toEqual([]);
      await resume();
      await untilBegun();
      const fiftieth = await trigger('skip', NEWEST);
      const last = await trigger('skip', NEWEST);

      expect(before.filter(({ status }) => status === 201)).toHaveLength(1);
      expect(before.filter(({ status }) => status === 200)).toHaveLength(48);
      expect([summary(fiftieth), summary(last)]).toEqual([
        { status: 201, outcome: 'created', id: idOf(fiftieth) },
        { status: 200, outcome: 'skipped', id: idOf(fiftieth) },
      ]);
      expect(await runsToTheEnd()).toEqual([first, idOf(fiftieth)]);
    },
  );

  it.sequential.each<[Strategy, object, number, string]>([
    ['none', {}, 201, 'created'],
    ['skip', {}, 200, 'skipped'],
    ['replace', { failTimes: 3 }, 201, 'replaced'],
    ['coalesce', { failTimes: 3 }, 200, 'coalesced'],
  ])(
    'while a job waits for its retry, %s: applies to it as to a pending one, and a run begins',
    async (strategy, more, status, outcome) => {
      const first = await running({ failTimes: 1, ...more });
      // The next attempt must not begin before another trigger.
      await pause();
      await until(async () => (await fleet.job(first)).attempts === 1, 'it has failed');
      const second = await trigger(strategy, NEWEST);

      const { id, ...answer } = summary(second);
      expect(answer).toEqual({ status, outcome, ...(strategy === 'replace' && { replaced: first }) });
      expect(id === first).toBe(strategy === 'skip' || strategy === 'coalesce');
      const runs = await runsToTheEnd();
      const sinceTrigger = strategy === 'none' ? [first, id] : [id];
      expect([runs.length, runs[0]]).toEqual([1 + sinceTrigger.length, first]);
      expect(new Set(runs.slice(1))).toEqual(new Set(sinceTrigger));
      expect(await fleet.job(idOf(second))).toMatchObject({
        state: 'completed',
        attempts: id === first ? 2 : 1,
      });
    },
  );

  it.sequential('does not affect jobs of other owners or other keys', async () => {
    await hold();
    const mine = await trigger('skip', NEWEST);
    const otherKey = await trigger('skip', NEWEST, { dedup: { strategy: 'skip', key: 'site:a|{?}' } });
    const otherOwner = await trigger('skip', NEWEST, { owners: [`${owner}x`] });
    const secondOwner = await trigger('skip', NEWEST, { owners: [`${owner}y`, owner] });

    const all = [mine, otherKey, otherOwner, secondOwner];
    expect(all.map(({ body }) => body['outcome'])).toEqual(Array(4).fill('created'));
    expect(new Set(all.map(idOf)).size).toBe(4);
    await resume();
    await Promise.all(all.map((answer) => fleet.untilState(idOf(answer), 'completed')));
  });

  it.sequential('records the outcome of each duplicate in the timeline of the pending job', async () => {
    await hold();
    const id = idOf(await trigger('skip', NEWEST));
    await trigger('skip', NEWEST);
    await trigger('coalesce', NEWEST);

    await resume();
    const job = await fleet.untilState(id, 'completed');
    expect(job.timeline.map(({ event, why }) => (why === undefined ? event : `${event}: ${why}`))).toEqual([
      'accepted',
      'deduplicated: skipped',
      'deduplicated: coalesced',
      'began',
      'completed',
    ]);
  });

  it.sequential('records only as many duplicates as the log keeps', async () => {
    owner = `site:${(owners += 1)}`;
    const id = idOf(await trigger('skip', NEWEST, { delay: '1h' }));
    for (let turn = 0; turn < 8; turn += 1)
      await Promise.all(Array.from({ length: 10 }, () => trigger('skip', NEWEST)));

    const entries = await until(async () => {
      const { timeline } = await fleet.job(id);
      return timeline.length > 50 && timeline;
    }, 'the log is full');
    expect(entries.map(({ event }) => event)).toEqual(['accepted', ...Array(50).fill('deduplicated')]);
  });
});

function idOf({ body }: Answer): string {
  return String(body['id']);
}

function summary({ status, body: { outcome, id, replaced } }: Answer): Record<string, unknown> {
  return { status, outcome, id, ...(replaced !== undefined && { replaced }) };
}

async function view(fleet: Fleet, owner: string): Promise<{ jobs: number; running: number }> {
  const [type, id] = owner.split(':') as [string, string];
  const { body } = await fleet.request('GET', `/v1/owners/${type}/${id}`);
  return body['counts'] as { jobs: number; running: number };
}
