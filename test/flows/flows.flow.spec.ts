import { Queue, type JobType } from 'bullmq';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { cancelByScript, moveEpoch, recordOf } from '../support/cancel-door.js';
import { Fleet, type Answer } from '../support/fleet.js';
import { untilNothingIsLeft } from '../support/leftovers.js';
import { jobFacts } from '../support/life-facts.js';
import { until } from '../support/until.js';

interface Node {
  readonly id: string;
  readonly owners: readonly string[];
  readonly children: readonly Node[];
}

const probe = (payload: object = {}, more: object = {}): object => ({ kind: 'probe', payload, ...more });
const STATES: JobType[] = [
  'active',
  'completed',
  'delayed',
  'failed',
  'prioritized',
  'waiting',
  'waiting-children',
];
const FAILS = { failTimes: 9 };

describe('a flow', () => {
  let fleet: Fleet;
  let redis: Redis;
  let queue: Queue;
  beforeAll(async () => {
    fleet = await Fleet.start();
    redis = new Redis(fleet.storeUrl, { maxRetriesPerRequest: null });
    queue = new Queue('probe', { connection: redis, prefix: `{${fleet.prefix}}` });
  });
  afterAll(async () => {
    await queue.close();
    await redis.quit();
    await fleet.stop();
  });

  // Each test has owners of its own, and no job begins before `work`.
  let tests = 0;
  let trip: string;
  let site: string;
  let earlier: Set<string>;
  beforeEach(async () => {
    tests += 1;
    trip = `trip:${tests}`;
    site = `site:${tests}`;
    await onQueue('pause');
    earlier = new Set(await jobIds());
  });
  afterEach(async () => {
    await work();
    await untilNothingIsLeft(fleet.storeUrl, fleet.prefix);
  });

  it('starts each job when its children have ended', async () => {
    const middle = probe({ ms: 50 }, { children: [probe({ ms: 200 }), probe()] });
    const flow = await add(probe({}, { children: [middle, probe({ ms: 100 })] }));
    expect(flow).toEqual({
      ...node(trip),
      children: [{ ...node(trip), children: [node(trip), node(trip)] }, node(trip)],
    });
    expect((await fleet.job(flow.id)).state).toBe('waiting');
    await work();

    expect(await fleet.untilState(flow.id, 'completed')).toMatchObject({ attempts: 1, owners: [trip] });
    const completed = await untilSaid('job.completed', 5);
    const began = times('job.began');
    for (const parent of [flow, flow.children[0]!]) {
      for (const child of parent.children)
        expect(began.get(parent.id)).toBeGreaterThanOrEqual(completed.get(child.id)!);
    }
  });

  it('gives a child without owners those of its parent', async () => {
    const owners = [site, `${trip}-other`];
    const own = probe({}, { owners, children: [probe()] });
    const flow = await add(probe({}, { children: [probe(), own] }));
    expect(ownersOf(flow)).toEqual([[trip], [trip], owners, owners]);
    await work();
    await fleet.untilState(flow.id, 'completed');
  });

  describe('with a child that fails', () => {
    it('fails its parents, which do not run', async () => {
      const middle = probe({}, { children: [probe(FAILS)] });
      const flow = await add(probe({}, { onChildFailure: 'fail', children: [middle, probe()] }));
      await work();

      const [failed] = flow.children as [Node];
      const job = await fleet.untilState(flow.id, 'failed');
      expect(job).toMatchObject({ error: `its child ${failed.id} did not complete`, attempts: 0 });
      expect(job.timeline.map(({ event }) => event)).toEqual(['accepted', 'failed']);
      expect(await fleet.job(failed.id)).toMatchObject({ state: 'failed', attempts: 0 });
      expect(times('job.began').has(flow.id)).toBe(false);
      const isIt = ({ event, jobId }: Record<string, unknown>): boolean =>
        event === 'job.failed' && jobId === flow.id;
      const said = await until(() => fleet.workers[0]!.facts().find(isIt), 'it is logged');
      expect(said).toMatchObject({ final: true, why: job.error });
      await fleet.untilState(flow.children[1]!.id, 'completed');
    });

    it('with the policy continue starts its parent at once, and completes it when the other children have ended', async () => {
      const flow = await add(
        probe({}, { onChildFailure: 'continue', children: [probe(FAILS), probe({ ms: 2_000 })] }),
      );
      await work();

      const job = await fleet.untilState(flow.id, 'completed');
      const slow = flow.children[1]!.id;
      await untilSaid('job.completed', 2);
      expect(times('job.began').get(flow.id)).toBeLessThan(times('job.completed').get(slow)!);
      expect(times('job.completed').get(flow.id)).toBeGreaterThanOrEqual(times('job.completed').get(slow)!);
      // It ran once, however often a worker fetched it.
      expect(jobFacts(fleet.workers, 'job.began').filter(({ jobId }) => jobId === flow.id)).toHaveLength(1);
      expect(job).toMatchObject({ attempts: 1, result: { attempt: 1 } });
      expect(job.timeline).toContainEqual(
        expect.objectContaining({ event: 'retrying', why: 'its children have not all ended' }),
      );
    });

    it('with the policy ignore starts its parent when all children have ended', async () => {
      const flow = await add(
        probe({}, { onChildFailure: 'ignore', children: [probe(FAILS), probe({ ms: 1_500 })] }),
      );
      await work();

      await fleet.untilState(flow.id, 'completed');
      const slow = flow.children[1]!.id;
      await untilSaid('job.completed', 2);
      expect(times('job.began').get(flow.id)).toBeGreaterThanOrEqual(times('job.completed').get(slow)!);
    });

    it('applies the policy of the nearest ancestor that names one', async () => {
      const middle = probe({}, { onChildFailure: 'fail', children: [probe(FAILS)] });
      const other = probe({}, { children: [probe(FAILS)] });
      const flow = await add(probe({}, { onChildFailure: 'ignore', children: [middle, other] }));
      await work();
      await fleet.untilState(flow.id, 'completed');
      const states = await Promise.all(flow.children.map(async ({ id }) => (await fleet.job(id)).state));
      expect(states).toEqual(['failed', 'completed']);
    });
  });

  describe('whose owner is cancelled before the clean-up runs', () => {
    it('starts neither parents nor children', async () => {
      const middle = probe({}, { children: [probe(), probe()] });
      const flow = await add(probe({}, { onChildFailure: 'ignore', children: [middle] }));
      await moveEpoch(redis, fleet.prefix, trip);
      await work();

      expect(await fleet.untilState(flow.id, 'cancelled')).toMatchObject({ attempts: 0 });
      for (const { id } of flow.children[0]!.children) await fleet.untilState(id, 'cancelled');
      expect(times('job.began').size).toBe(0);
    });

    it.each([
      ['fail', 'failed'],
      ['continue', 'completed'],
      ['ignore', 'completed'],
    ] as const)(
      'of a child: the child counts as failed for its parent of another owner (%s)',
      async (policy, state) => {
        const flow = await add(
          probe({}, { onChildFailure: policy, children: [probe({}, { owners: [site] }), probe()] }),
        );
        await moveEpoch(redis, fleet.prefix, site);
        await work();

        await fleet.untilState(flow.id, state);
        await fleet.untilState(flow.children[0]!.id, 'cancelled');
        expect(times('job.began').has(flow.id)).toBe(state === 'completed');
        await fleet.untilState(flow.children[1]!.id, 'completed');
      },
    );
  });

  it('is removed whole when its owner is cancelled', async () => {
    const middle = probe({}, { children: [probe(), probe()] });
    const flow = await add(probe({}, { onChildFailure: 'ignore', children: [middle] }));
    expect(await cancel(trip)).toMatchObject({ removed: 4, done: true });
    await expectNothing();
    await work();
    // The worker has already run a later job.
    await fleet.untilState(await fleet.probe({}, { owners: [`${trip}-other`] }), 'completed');
    expect(await fleet.job(flow.id)).toMatchObject({ state: 'removed' });
    expect(times('job.began').size).toBe(0);
  });

  it('stays when a child of another owner is cancelled, and the child counts as failed', async () => {
    const children = [probe({}, { owners: [site] }), probe({}, { owners: [site] })];
    const flow = await add(probe({}, { children }));
    expect(await cancel(site)).toMatchObject({ removed: 2, done: true });
    for (const { id } of flow.children) expect((await fleet.job(id)).state).toBe('removed');
    expect((await fleet.job(flow.id)).state).toBe('waiting');
    await work();
    expect(await fleet.untilState(flow.id, 'failed')).toMatchObject({ attempts: 0 });
    expect(times('job.began').size).toBe(0);
  });

  it('reports an expired job to its parent as failed', async () => {
    // A deadline counts from the time a job was accepted; the kind probe has none, so the test sets one here.
    const middle = probe({}, { children: [probe()] });
    const flow = await add(probe({}, { children: [middle] }));
    const { id } = flow.children[0]!;
    await startBy(id, 1);
    await work();
    expect(await fleet.untilState(id, 'expired')).toMatchObject({ attempts: 0 });
    expect(await fleet.untilState(flow.id, 'failed')).toMatchObject({
      error: `its child ${id} did not complete`,
    });
  });

  it('does not count a removed child as completed', async () => {
    const flow = await add(probe({}, { children: [probe(), probe({}, { owners: [site] })] }));
    for (const { id } of flow.children) expect(await queue.remove(id)).toBe(1);
    await work();

    const job = await fleet.untilState(flow.id, 'failed');
    expect(job).toMatchObject({ error: 'a child of it was removed', attempts: 1 });
    expect(times('job.began').has(flow.id)).toBe(false);
    // Mooring removes the owner entries of a job that it removes; BullMQ does not.
    await until(
      async () => !(await redis.hexists(recordOf(fleet.prefix, trip), `probe:${flow.id}`)),
      'it left',
    );
    await redis.del(recordOf(fleet.prefix, trip), recordOf(fleet.prefix, site));
  });

  describe('is refused as a whole', () => {
    it.each<[string, object, number, string, RegExp]>([
      [
        'a payload',
        { children: [probe(), probe({ ms: 'x' })] },
        400,
        'INVALID',
        /^children\[1\]: .*\n.*\n.*ms/,
      ],
      [
        'an owner',
        { children: [probe({}, { children: [probe({}, { owners: ['x'] })] })] },
        400,
        'INVALID',
        /^children\[0\]\.children\[0\]: An owner/,
      ],
      [
        'a field',
        { children: [{ kind: 'probe', jobId: 'meta' }] },
        400,
        'INVALID',
        /^children\[0\]: .*jobId/,
      ],
      ['a kind', { children: [{ kind: 'prob' }] }, 404, 'UNKNOWN_KIND', /prob/],
      ['no kind', { children: [7] }, 400, 'INVALID', /^children\[0\]: /],
      ['a policy', { onChildFailure: 'retry' }, 400, 'INVALID', /onChildFailure/],
      ['deduplication', { children: [probe({}, { dedup: { strategy: 'skip' } })] }, 400, 'INVALID', /dedup/],
      ['its owners', { owners: undefined }, 400, 'INVALID', /one to 4 owners/],
      ['a sixth level', deep(6), 400, 'INVALID', /at most 5 jobs deep/],
      [
        'its 101st job',
        { children: Array.from({ length: 50 }, () => probe({}, { children: [probe()] })) },
        400,
        'INVALID',
        /^children\[49\]\.children\[0\]: a flow has at most 100 jobs/,
      ],
    ])('for %s', async (_what, more, status, code, detail) => {
      const answer = await ask(probe({}, more));
      expect(answer).toMatchObject({ status, body: { code, detail: expect.stringMatching(detail) } });
      await expectNothing();
    });

    it('for an Idempotency-Key, which it cannot store', async () => {
      const answer = await fleet.request('POST', '/v1/flows', probe(), { 'idempotency-key': 'k' });
      expect(answer).toMatchObject({
        status: 400,
        body: { detail: expect.stringMatching(/Idempotency-Key/) },
      });
    });

    it('for a closed owner of any of its jobs', async () => {
      await cancelByScript(redis, fleet.prefix, 'site:closed', { close: true });
      const children = [probe(), probe({}, { owners: [trip, 'site:closed'] }), probe()];
      expect(await ask(probe({}, { children }))).toMatchObject({
        status: 409,
        body: { code: 'OWNER_CLOSED' },
      });
      await expectNothing();
    });
  });

  it('accepts up to five levels and a hundred jobs', async () => {
    const wide = await add(probe({}, { children: Array.from({ length: 99 }, () => probe()) }));
    const flow = await add(probe({}, deep(5)));
    await work();
    await fleet.untilState(flow.id, 'completed');
    await fleet.untilState(wide.id, 'completed');
    expect((await untilSaid('job.completed', 105)).size).toBe(105);
  });

  function ask(flow: object): Promise<Answer> {
    return fleet.request('POST', '/v1/flows', { owners: [trip], ...flow });
  }

  async function add(flow: object): Promise<Node> {
    const { status, body, headers } = await ask(flow);
    expect({ status, body }).toMatchObject({ status: 201 });
    expect(headers.get('location')).toBe(`/v1/jobs/${String(body['id'])}`);
    return body as unknown as Node;
  }

  async function cancel(owner: string): Promise<unknown> {
    const { status, body } = await fleet.request('POST', `/v1/owners/${owner.replace(':', '/')}/cancel`, {
      reason: 'called off',
    });
    expect({ status, body }).toMatchObject({ status: 200 });
    return body;
  }

  function work(): Promise<void> {
    return onQueue('resume');
  }

  async function onQueue(action: 'pause' | 'resume'): Promise<void> {
    expect((await fleet.request('POST', `/v1/admin/queues/probe/${action}`)).status).toBe(200);
  }

  /** The log times of an event, for the jobs of this test's owners. */
  function times(event: string): Map<string, number> {
    const ofTest = fleet.workers.flatMap((worker) =>
      worker.facts().filter(({ owner }) => [trip, site].includes(String(owner))),
    );
    const said = ofTest.filter((fact) => fact['event'] === event);
    return new Map(said.map(({ jobId, time }) => [String(jobId), Number(time)]));
  }

  /** Waits for the event of `count` jobs and expects no more; a worker logs it a moment after the store has it. */
  async function untilSaid(event: string, count: number): Promise<Map<string, number>> {
    await until(() => times(event).size >= count, `${event} is said of ${count}`);
    expect(times(event).size).toBe(count);
    return times(event);
  }

  /** Gives a job without a deadline one at `at` ms. */
  async function startBy(id: string, at: number): Promise<void> {
    const key = queue.toKey(id);
    const opts = (await redis.hget(key, 'opts'))!;
    const limited = opts.replace(/^({"mooring":"\d+\|[^|"]+\|)\|/, `$1${at}|`);
    expect(limited).not.toBe(opts);
    await redis.hset(key, 'opts', limited);
  }

  /** The ids of all jobs in the queue. */
  function jobIds(): Promise<string[]> {
    return queue.getRanges(STATES, 0, -1);
  }

  async function expectNothing(): Promise<void> {
    expect((await jobIds()).filter((id) => !earlier.has(id))).toEqual([]);
    expect(await redis.hkeys(recordOf(fleet.prefix, trip))).not.toContainEqual(
      expect.stringMatching(/^probe:/),
    );
  }
});

/** The answer for a job without children. */
function node(owner: string): object {
  const id = expect.stringMatching(/^probe-[0-9A-Za-z]{20}$/) as string;
  return { id, kind: 'probe', queue: 'probe', owners: [owner], children: [] };
}

function ownersOf({ owners, children }: Node): (readonly string[])[] {
  return [owners, ...children.flatMap(ownersOf)];
}

/** Nested children, `levels` deep including the root. */
function deep(levels: number): object {
  return levels === 1 ? {} : { children: [probe({}, deep(levels - 1))] };
}
