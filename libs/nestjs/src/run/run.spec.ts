import 'reflect-metadata';
import '../register.js';
import { Owners, type MooredQueue } from '#core';
import { Processor } from '@nestjs/bullmq';
import { type INestApplicationContext, type Provider, type Type } from '@nestjs/common';
import type { JobState } from 'bullmq';
import { Redis } from 'ioredis';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, inject, it, vi } from 'vitest';
import { z } from 'zod';
import { defer } from '../../../../test/support/defer.js';
import { startNestApp } from '../../../../test/support/nest-app.js';
import { until } from '../../../../test/support/until.js';
import { Enqueuer } from '../enqueue/enqueuer.js';
import type { EnqueueOptions } from '../enqueue/enqueue-options.js';
import { QueueRegistry } from '../enqueue/queue-registry.js';
import { Outbox } from '../events/outbox.js';
import { JobLog } from '../history/job-log.js';
import { JobHistory } from '../history/job-history.js';
import type { TimelineEntry } from '../history/timeline.js';
import type { Fact } from '../journal/fact.js';
import { defineKind, type Kind, type KindOptions } from '../kinds/kind.js';
import { MooringModule } from '../mooring.module.js';
import type { MooringOptions } from '../options.js';
import { Consumption } from './consumption.js';
import { FailedForGood } from './failed-for-good.js';
import { Handler, Handles } from './handler.js';
import { KindProcessor } from './kind-processor.js';
import { OwnerCheck } from '../resolvers/owner-check.js';
import type { OwnerLife } from '../resolvers/owner-resolver.js';
import { QueueWorkers } from './queue-workers.js';
import type { Run } from './run.js';
import { RunningJobs } from './running-jobs.js';
import { SnoozeJob } from './snooze-job.js';
import { Waker } from './waker.js';

const OWNER = 'trip:42';

@Processor('things')
class ThingProcessor extends KindProcessor {}

describe('a run', () => {
  let redis: Redis;
  let prefix: string;
  let facts: Fact[];
  let published: Fact[];
  let unpublished: Fact[];
  let isPublisherAway: boolean;
  let apps: INestApplicationContext[];
  let app: INestApplicationContext;
  let queue: MooredQueue;

  beforeEach(() => {
    [facts, published, unpublished, apps, isPublisherAway] = [[], [], [], [], false];
    prefix = `test-run-${randomBytes(4).toString('hex')}`;
    redis = new Redis(inject('storeUrl'), { maxRetriesPerRequest: null });
  });

  afterEach(async () => {
    for (const each of apps) await each.close();
    const keys = await redis.keys(`${prefix}*`);
    if (keys.length > 0) await redis.del(keys);
    redis.disconnect();
  });

  async function open(
    kind: Kind,
    more: Partial<MooringOptions>,
    providers: Provider[] = [],
    modules: Type[] = [],
  ): Promise<typeof app> {
    const publish = async (fact: Fact): Promise<boolean> => {
      (isPublisherAway ? unpublished : published).push(fact);
      return !isPublisherAway;
    };
    const options = {
      connection: redis,
      prefix,
      listeners: [(fact: Fact) => facts.push(fact)],
      publisher: { publish },
    };
    const imports = [
      MooringModule.forRoot({ ...options, ...more }),
      MooringModule.forKinds([kind]),
      ...modules,
    ];
    const opened = await startNestApp({ imports, providers });
    apps.push(opened);
    return opened;
  }

  /** An application with one kind, whose handler calls the given function. */
  async function start(
    options: Partial<KindOptions<z.ZodType>>,
    handle: (run: Run) => unknown,
    worker: MooringOptions['worker'] | null = {},
    modules: Type[] = [],
  ): Promise<Kind> {
    const kind = defineKind({ name: 'thing.do', queue: 'things', payload: z.object({}), ...options });
    const extra = 'checkOwner' in options ? Object.freeze({ ...kind, ...options }) : kind;
    @Handles(extra as Kind)
    class Doer extends Handler {
      async handle(_payload: unknown, run: Run): Promise<unknown> {
        return handle(run);
      }
    }
    const shortLock = { lockDuration: 2_000, shutdownTimeout: '2s', ...worker };
    const providers = worker ? [Doer as Type, ThingProcessor] : [Doer as Type];
    app = await open(extra as Kind, { worker: shortLock }, providers, modules);
    queue = app.get(QueueRegistry).get('things');
    return extra as Kind;
  }

  async function enqueue(kind: Kind, options: EnqueueOptions = {}): Promise<string> {
    return (await app.get(Enqueuer).enqueue(kind, {}, { owners: [OWNER], ...options })).id;
  }

  const eventsOf = (id: string) =>
    facts.flatMap((fact) => ('jobId' in fact && fact.jobId === id ? [fact.event] : []));

  const told = (id: string, event: string) =>
    until(
      () => facts.find((fact) => 'jobId' in fact && fact.jobId === id && fact.event === event),
      `${id} ${event}`,
    );

  async function timeline(id: string): Promise<string[]> {
    const history = app.get(JobHistory);
    const removed = await history.findRemoved('things', id);
    if (removed) return words(removed.timeline);
    const state = await queue.getJobState(id);
    return words(await history.timelineOf((await queue.getJob(id))!, state as JobState));
  }

  it('is reported from its start to its end, and its job has a timeline', async () => {
    const kind = await start({ attempts: 2 }, ({ attempt }) => {
      if (attempt === 1) throw new Error('not yet');
      return 'done';
    });
    const id = await enqueue(kind);

    expect(await told(id, 'job.completed')).toMatchObject({
      queue: 'things',
      kind: 'thing.do',
      owner: OWNER,
    });

    expect(eventsOf(id)).toEqual(['job.accepted', 'job.began', 'job.failed', 'job.began', 'job.completed']);
    const failed = facts.find(({ event }) => event === 'job.failed');
    expect(failed).toMatchObject({ final: false, why: 'not yet' });
    expect(facts.filter(({ event }) => event === 'job.began').map((fact) => 'waitedMs' in fact)).toEqual([
      true,
      false,
    ]);
    await until(async () => (await timeline(id)).length === 6, 'the log is written');
    expect(await timeline(id)).toEqual([
      'accepted',
      'began 1',
      'failed 1: not yet',
      'retrying 1',
      'began 2',
      'completed',
    ]);
    expect(published.map(({ event }) => event)).toContain('job.completed');
  });

  it('writes nothing to the log of a job that completes at once', async () => {
    const id = await enqueue(await start({}, () => 'done'));
    await told(id, 'job.completed');
    expect(await timeline(id)).toEqual(['accepted', 'began 1', 'completed']);
    expect(await redis.exists(`${prefix}:things:${id}:logs`)).toBe(0);
  });

  it('that a cancel stops has not failed: its timeline shows it as cancelled', async () => {
    const kind = await start({ attempts: 5 }, async ({ signal }) => {
      await once(signal, 'abort');
      throw new Error('stopped');
    });
    const id = await enqueue(kind);
    await told(id, 'job.began');

    await app.get(Owners).cancel(OWNER, { reason: 'called off', by: 'ops', wait: 'drained' });

    await told(id, 'job.cancelled');
    expect(eventsOf(id)).toEqual(['job.accepted', 'job.began', 'job.cancelled']);
    expect(await timeline(id)).toEqual([
      'accepted',
      'began 1',
      'aborted 1',
      'cancelled: its owner was cancelled while it ran',
    ]);
    expect(facts.filter(({ event }) => event === 'owner.cancelled')).toMatchObject([
      { owner: OWNER, by: 'ops' },
    ]);
  });

  it('has an aborted signal if its handler first asks for one after the cancel', async () => {
    let reason: unknown;
    const kind = await start({}, async (run) => {
      await until(() => run['stop'].stopped, 'the run is told to stop');
      reason = run.signal.aborted && run.signal.reason;
    });
    const id = await enqueue(kind);
    await told(id, 'job.began');

    const { cancelId } = await app.get(Owners).cancel(OWNER);

    await told(id, 'job.cancelled');
    expect(reason).toBe('cancelled');
    expect(await app.get(Owners).receipt(cancelId)).toMatchObject({ aborted: 1 });
  });

  it("is told to stop by cancelJob of BullMQ's worker", async () => {
    const kind = await start({}, async ({ signal }) => {
      await once(signal, 'abort');
      throw new Error(String(signal.reason));
    });
    const id = await enqueue(kind);
    await told(id, 'job.began');

    expect(app.get(ThingProcessor).worker.cancelJob(id, 'by hand')).toBe(true);

    expect(await told(id, 'job.failed')).toMatchObject({ why: 'by hand' });
    expect(app.get(ThingProcessor).worker.cancelJob(id)).toBe(false);
  });

  it('logs to its job and reports progress, and neither can fail it', async () => {
    const circle: Record<string, unknown> = {};
    circle['self'] = circle;
    const kind = await start({}, async (run) => {
      for (let line = 0; line < 150; line += 1) run.log.log(`line ${line}`);
      await run.progress(circle);
      await run.progress(50);
    });
    const id = await enqueue(kind);
    await told(id, 'job.completed');

    const { lines } = await until(async () => {
      const view = await app.get(JobLog).read('things', id);
      return view.lines.length === 100 && view;
    }, 'the log is written');
    expect(lines[0]).toMatchObject({ level: 'info', text: 'line 0' });
    expect(lines.at(-1)).toMatchObject({ text: 'Further lines are in the log of the process.' });
    expect((await queue.getJob(id))!.progress).toBe(50);
    expect(facts.filter(({ event }) => event === 'trouble')).toHaveLength(1);
  });

  it('that times out fails with that reason, whatever its handler throws', async () => {
    const kind = await start({ timeout: '50ms' }, async ({ signal }) => {
      await once(signal, 'abort');
      throw new Error('told to stop');
    });
    const id = await enqueue(kind);
    expect(await told(id, 'job.failed')).toMatchObject({
      why: 'The run took longer than 50 ms.',
      final: true,
    });
  });

  it('that failed finally is not retried', async () => {
    const kind = await start({ attempts: 5 }, () => {
      throw new FailedForGood('no such thing');
    });
    const id = await enqueue(kind);
    expect(await told(id, 'job.failed')).toMatchObject({ why: 'no such thing', final: true });
    expect(await timeline(id)).toEqual(['accepted', 'began 1', 'failed: no such thing']);
  });

  it('that snoozes is delayed, and begins at once when it is woken or need not wait', async () => {
    let isOver = false;
    let runs = 0;
    const kind = await start({}, () => {
      runs += 1;
      if (runs < 3) throw new SnoozeJob('the driver is busy', 60_000, () => Promise.resolve(isOver));
    });
    const id = await enqueue(kind);
    expect(await told(id, 'job.put-off')).toMatchObject({ why: 'the driver is busy', forMs: 60_000 });
    isOver = true;
    await until(() => app.get(Waker).wake('things', id), 'it is woken');

    await told(id, 'job.completed');
    expect((await queue.getJob(id))!.attemptsMade).toBe(1);
    expect(await app.get(Waker).wake('things', id)).toBe(false);
    expect(await app.get(Waker).wake('things', 'none')).toBe(false);
  });

  it.each<[OwnerLife, string, string]>([
    ['gone', 'run', 'job.skipped'],
    ['unknown', 'wait', 'job.put-off'],
    ['unknown', 'run', 'job.completed'],
    ['alive', 'wait', 'job.completed'],
  ])('of an owner that is %s, if the kind says %s, ends as %s', async (life, onUnknownOwner, event) => {
    const kind = await start({ checkOwner: 'start', onUnknownOwner } as object, () => 'ran');
    vi.spyOn(app.get(OwnerCheck), 'ask').mockResolvedValue(life);
    const id = await enqueue(kind);
    await told(id, event);
    expect(eventsOf(id)).toEqual([
      'job.accepted',
      ...(event === 'job.completed' ? ['job.began'] : []),
      event,
    ]);
    if (event !== 'job.skipped') return;
    expect(await timeline(id)).toEqual(['accepted', 'skipped: its owner is gone']);
    expect(await app.get(Owners).get(OWNER)).toBeUndefined();
  });

  it('is listed while it runs, and handed to another worker by a shutdown that it ignores', async () => {
    const kind = await start({}, () => new Promise(() => undefined));
    const id = await enqueue(kind);
    await told(id, 'job.began');
    expect(app.get(RunningJobs).all()).toMatchObject([{ jobId: id, attempt: 1 }]);

    const began = Date.now();
    await apps.pop()!.close();

    expect(Date.now() - began).toBeLessThan(3_000);
    expect(eventsOf(id)).toEqual(['job.accepted', 'job.began', 'job.handed-back']);
    expect(facts.at(-1)).toMatchObject({ event: 'worker.drained' });
    app = await open(kind, {});
    queue = app.get(QueueRegistry).get('things');
    expect(await queue.getJobState(id)).toMatch(/waiting|prioritized/);
    expect((await queue.getJob(id))!.attemptsMade).toBe(0);
    await until(async () => (await timeline(id)).length === 3, 'the log is written');
    expect(await timeline(id)).toEqual(['accepted', 'began 1', 'retrying 1: its worker ended']);
  });

  it('that starts too late is reported as expired', async () => {
    const kind = await start({}, () => 'ran', null);
    const id = await enqueue(kind, { expiresIn: 1 });
    await until(async () => Number((await redis.time())[0]) * 1_000 > Date.now() - 1_000, 'its time is over');
    const worker = await start({}, () => 'ran');
    expect(worker.name).toBe(kind.name);
    expect(await told(id, 'job.expired')).toMatchObject({
      kind: 'thing.do',
      owner: OWNER,
      why: 'it did not start in time',
    });
    expect(await timeline(id)).toEqual(['accepted', 'expired: it did not start in time']);
  });

  it('is refused to a worker with an unknown kind', async () => {
    await expect(start({}, () => 'ran', { kinds: ['thing.no'] })).rejects.toThrow(
      'This worker is to take "thing.no", but knows only: thing.do.',
    );
  });

  it('is reported missing when the jobs of a queue are not fetched for a while', async () => {
    const kind = await start({}, () => 'ran');
    const consumption = app.get(Consumption);
    for (const worker of app.get(QueueWorkers).all()) await worker.pause();
    await enqueue(kind);
    const now = Date.now();
    expect(await consumption.stuckQueues(now)).toEqual([]);
    expect(await consumption.stuckQueues(now + 14_000)).toEqual([]);
    expect(await consumption.stuckQueues(now + 16_000)).toEqual(['things']);
    await queue.pause();
    expect(await consumption.stuckQueues(now + 17_000)).toEqual([]);
  });

  describe('that waits', () => {
    it('records in its timeline which triggers joined it, and that it waits for its slot', async () => {
      const held = defer();
      const kind = await start({}, () => held.promise);
      const slot = { key: 'driver:7', limit: 1 };
      const first = await enqueue(kind, { slot });
      await told(first, 'job.began');
      const dedup = { strategy: 'skip', key: 'k' } as const;
      const id = await enqueue(kind, { slot, dedup });
      await until(async () => (await queue.getJobState(id)) === 'delayed', 'it waits for its slot');
      expect(await enqueue(kind, { slot, dedup })).toBe(id);
      expect(await enqueue(kind, { slot, dedup: { ...dedup, strategy: 'coalesce' } })).toBe(id);
      held.resolve();
      await told(id, 'job.completed');

      expect(await timeline(id)).toEqual([
        'accepted',
        'waiting-for-slot',
        'deduplicated: skipped',
        'deduplicated: coalesced',
        'began 1',
        'completed',
      ]);
    });

    it('and is cancelled stays known by its id, with the author and the reason, and is reported', async () => {
      const kind = await start({}, () => 'ran', null);
      const [id, delayed] = [await enqueue(kind), await enqueue(kind, { delay: '1h' })];

      await app.get(Owners).cancel(OWNER, { reason: 'called off', by: 'ops' });

      expect(await timeline(id)).toEqual(['removed: cancelled by ops: called off (it was waiting)']);
      expect(await timeline(delayed)).toEqual(['removed: cancelled by ops: called off (it was delayed)']);
      expect(await app.get(JobHistory).findRemoved('things', id)).toMatchObject({
        kind: 'thing.do',
        owners: [OWNER],
      });
      expect(await told(id, 'job.cancelled')).toMatchObject({ why: 'called off', by: 'ops' });
      await told(delayed, 'job.cancelled');
    });

    it('and is replaced or removed reports that', async () => {
      const kind = await start({ dedup: { strategy: 'replace' } }, () => 'ran', null);
      const [first, second] = [await enqueue(kind), await enqueue(kind)];
      await queue.remove(second);

      expect(await timeline(first)).toEqual(['cancelled: replaced by newer job']);
      expect(await timeline(second)).toEqual(['removed: removed (it was waiting)']);
    });

    it('and is removed displaces the oldest record when the limit is reached', async () => {
      const kind = await start({}, () => 'ran', null);
      const ids = Array.from({ length: 10_000 }, (_, i) => `old-${String(i).padStart(5, '0')}`);
      await redis.hset(`${prefix}~gone~things`, Object.fromEntries(ids.map((id) => [id, ''])));
      await redis.zadd(`${prefix}~gone-at~things`, ...ids.flatMap((id) => ['1', id]));
      await queue.remove(await enqueue(kind));

      expect(await redis.hlen(`${prefix}~gone~things`)).toBe(10_000);
      expect(await app.get(JobHistory).findRemoved('things', 'old-00000')).toBeUndefined();
      expect(await redis.pttl(`${prefix}~gone~things`)).toBeGreaterThan(0);
    });
  });

  describe('and the outbox', () => {
    const outbox = () => redis.zrange(`${prefix}~outbox`, '0', '-1');
    const makeDue = async () => {
      for (const entry of await outbox()) await redis.zadd(`${prefix}~outbox`, 0, entry);
    };
    const cancelsTold = () => published.filter(({ event }) => event === 'owner.cancelled');

    it('publishes a cancel once, when its last run has ended', async () => {
      const go = defer();
      const kind = await start({ grace: '1m' }, () => go.promise);
      await told(await enqueue(kind), 'job.began');
      await app.get(Owners).cancel(OWNER, { cancelId: 'c-1' });
      await makeDue();
      await app.get(Outbox).relay();
      expect(cancelsTold()).toEqual([]);
      go.resolve();
      await until(async () => (await app.get(Owners).receipt('c-1'))!.done, 'it is done');
      await makeDue();
      await app.get(Outbox).relay();

      expect(cancelsTold()).toMatchObject([{ cancelId: 'c-1', aborted: 1, done: true }]);
      expect(await outbox()).toEqual([]);
    });

    it('publishes a cancel once if its process was killed before', async () => {
      await start({}, () => 'ran', null);
      const dying = new Owners({ connection: redis, prefix, outbox: true });
      await dying.cancel(OWNER, { cancelId: 'c-1' });
      await dying.close();
      expect(await outbox()).toEqual(['cancel c-1']);
      for (let turn = 0; turn < 2; turn += 1) {
        await makeDue();
        await app.get(Outbox).relay();
      }

      expect(facts.filter(({ event }) => event === 'owner.cancelled')).toMatchObject([{ cancelId: 'c-1' }]);
      expect(cancelsTold()).toMatchObject([{ cancelId: 'c-1' }]);
      expect(await outbox()).toEqual([]);
    });

    it('keeps a cancel that could not be published until another process publishes it', async () => {
      const kind = await start({}, () => 'ran', null);
      isPublisherAway = true;
      await app.get(Owners).cancel(OWNER, { cancelId: 'c-1' });
      await until(() => unpublished.length === 1, 'its process has tried');
      expect(await outbox()).toEqual(['heard c-1']);
      isPublisherAway = false;
      expect(await app.get(Outbox).relay()).toBe(0);
      await makeDue();
      const other = await open(kind, {});
      const taken = await Promise.all([app.get(Outbox).relay(), other.get(Outbox).relay()]);

      expect(taken.reduce((sum, count) => sum + count, 0)).toBe(1);
      expect(cancelsTold()).toMatchObject([{ cancelId: 'c-1' }]);
      expect(await outbox()).toEqual([]);
    });

    it('repeats a fact of a sweep under its id, and has no entries without a publisher', async () => {
      const kind = await start({}, () => 'ran', null);
      const fact = { event: 'sweep.done', sweepId: 's-1', sweep: 'orphans', removed: 1 } as const;
      isPublisherAway = true;
      for (const entry of app.get(Outbox).entry('sweep.done:s-1', fact))
        await redis.call(...(entry as [string]));
      await app.get(Outbox).tell('sweep.done:s-1', fact);
      expect(await outbox()).toEqual(['sweep.done:s-1']);
      isPublisherAway = false;
      await makeDue();
      await app.get(Outbox).relay();
      expect(published).toEqual([fact]);
      expect(await redis.exists(`${prefix}~outbox`, `${prefix}~outbox-facts`)).toBe(0);

      const silent = await open(kind, { publisher: undefined } as never);
      await silent.get(Owners).cancel('trip:43');
      expect(await outbox()).toEqual([]);
    });
  });
});

function words(entries: readonly TimelineEntry[]): string[] {
  return entries.map(
    ({ event, attempt, why }) => `${event}${attempt ? ` ${attempt}` : ''}${why ? `: ${why}` : ''}`,
  );
}
