import { FlowProducer, Queue, UnrecoverableError, Worker, type Job, type JobsOptions } from 'bullmq';
import { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { until } from '../../../../test/support/until.js';
import { MooredFlowProducer, MooredQueue, MooredWorker } from '../index.js';

interface Classes {
  readonly Queue: typeof Queue;
  readonly Worker: typeof Worker;
  readonly FlowProducer: typeof FlowProducer;
}

const BULLMQ: Classes = { Queue, Worker, FlowProducer };
const OURS = {
  Queue: MooredQueue,
  Worker: MooredWorker,
  FlowProducer: MooredFlowProducer,
} as never as Classes;

/** The calls of one side: adds jobs and runs them; resolves when they have ended. */
type Scenario = (side: Side) => Promise<void>;

class Side {
  readonly queue: Queue;
  private readonly open: { close(): Promise<unknown> }[] = [];

  constructor(
    private readonly classes: Classes,
    readonly redis: Redis,
    readonly prefix: string,
    private readonly owners: JobsOptions,
  ) {
    this.queue = this.keep(new classes.Queue('work', this.place));
  }

  get place() {
    return { connection: this.redis, prefix: this.prefix };
  }

  /** Both sides wait in the same place, because jobs of owners have a priority. */
  add(id: string, opts: JobsOptions = {}): Promise<Job> {
    return this.queue.add(
      'job',
      { id },
      { priority: 1, timestamp: 1_700_000_000_000, jobId: id, ...opts, ...this.owners },
    );
  }

  work(processor: (job: Job) => Promise<unknown>, opts = {}): Worker {
    const worker = new this.classes.Worker('work', processor, { ...opts, ...this.place });
    worker.on('error', () => undefined);
    return this.keep(worker);
  }

  async ended(count: number): Promise<void> {
    const counts = () => this.queue.getJobCountByTypes('completed', 'failed');
    await until(async () => (await counts()) === count, `${count} have ended`);
  }

  async flow(tree: object): Promise<void> {
    await this.keep(new this.classes.FlowProducer(this.place)).add(tree as never);
  }

  /** A job with the owners of this side, if any. */
  opts(opts: JobsOptions): JobsOptions {
    return { ...opts, ...this.owners };
  }

  async stop(): Promise<void> {
    for (const each of this.open.toReversed()) await each.close();
  }

  private keep<T extends { close(): Promise<unknown> }>(each: T): T {
    this.open.push(each);
    return each;
  }
}

const SCENARIOS: Record<string, Scenario> = {
  completed: async (side) => {
    for (const id of ['a', 'b', 'c']) await side.add(id);
    side.work(async (job) => ({ was: job.data.id }));
    await side.ended(3);
  },
  failed: async (side) => {
    await side.add('a');
    await side.add('b', { attempts: 3 });
    side.work(async () => {
      throw new UnrecoverableError('never');
    });
    await side.ended(2);
  },
  delayed: async (side) => {
    await side.add('a', { delay: 30 });
    side.work(async () => 1);
    await side.ended(1);
  },
  'retried at once and later': async (side) => {
    await side.add('a', { attempts: 2 });
    await side.add('b', { attempts: 2, backoff: 10 });
    side.work(async (job) => {
      if (job.attemptsMade === 0) throw new Error('once more');
    });
    await side.ended(2);
  },
  stalled: async (side) => {
    await side.add('a');
    const dead = side.work(() => new Promise(() => undefined), {
      lockDuration: 50,
      skipLockRenewal: true,
      skipStalledCheck: true,
    });
    await until(async () => (await side.queue.getActiveCount()) === 1, 'it runs');
    await dead.close(true);
    side.work(async () => 2, { stalledInterval: 60 });
    await side.ended(1);
  },
  'with a parent': async (side) => {
    const node = (jobId: string, children: object[] = [], opts = {}) => ({
      name: 'job',
      queueName: 'work',
      data: {},
      opts: side.opts({ jobId, priority: 1, timestamp: 1_700_000_000_000, ...opts }),
      ...(children.length > 0 && { children }),
    });
    const ignored = node('bad', [], { ignoreDependencyOnFailure: true });
    await side.flow(node('top', [node('one'), node('two', [node('below')]), ignored]));
    side.work(async (job) => {
      if (job.id === 'bad') throw new Error('no');
      return job.id;
    });
    await side.ended(5);
  },
  'with retention': async (side) => {
    for (const id of ['a', 'b', 'c', 'd'])
      await side.add(id, { removeOnComplete: id === 'd' ? true : { count: 2 } });
    const ran: string[] = [];
    side.work(async (job) => ran.push(job.id!));
    await until(() => ran.length === 4, 'all ran');
    await until(async () => (await side.queue.getActiveCount()) === 0, 'all ended');
  },
  'with retention, of runs that end together': async (side) => {
    await side.queue.pause();
    for (const id of ['a', 'b', 'c', 'd', 'e'])
      await side.add(id, {
        removeOnComplete: { count: 2, age: 3_600 },
        removeOnFail: { count: 1 },
        attempts: 1,
      });
    const ran: string[] = [];
    side.work(async (job) => {
      ran.push(job.id!);
      if (job.id === 'b' || job.id === 'd') throw new Error('no');
    });
    await side.queue.resume();
    await until(() => ran.length === 5, 'all ran');
    await until(async () => (await side.queue.getActiveCount()) === 0, 'all ended');
  },
  'paused, removed and retried by hand': async (side) => {
    await side.queue.pause();
    for (const id of ['a', 'b', 'c']) await side.add(id);
    await side.queue.remove('b');
    await (await side.queue.getJob('c'))!.changePriority({ priority: 5 });
    await side.queue.resume();
    let failures = 0;
    side.work(async (job) => {
      if (job.id === 'a' && failures++ === 0) throw new Error('first');
    });
    await side.ended(2);
    await (await side.queue.getJob('a'))!.retry();
    await until(async () => (await side.queue.getCompletedCount()) === 2, 'both completed');
  },
};

describe('jobs leave in the store what they leave with plain BullMQ', () => {
  let redis: Redis;
  let run = 0;
  const sides: Side[] = [];

  beforeEach(() => {
    redis = new Redis(inject('storeUrl'), { maxRetriesPerRequest: null });
  });

  afterEach(async () => {
    for (const side of sides.splice(0)) {
      await side.stop();
      const keys = await redis.keys(`${side.prefix}*`);
      if (keys.length > 0) await redis.del(keys);
    }
    redis.disconnect();
  });

  async function whatRemains(
    classes: Classes,
    owners: JobsOptions,
    scenario: Scenario,
  ): Promise<Record<string, unknown>> {
    const side = new Side(classes, redis, `test-diff-${process.pid}-${(run += 1)}`, owners);
    sides.push(side);
    await scenario(side);
    return dump(redis, side.prefix);
  }

  it.each(Object.entries(SCENARIOS))('%s, without owners', async (_, scenario) => {
    expect(await whatRemains(OURS, {}, scenario)).toEqual(await whatRemains(BULLMQ, {}, scenario));
  });

  it.each(Object.entries(SCENARIOS))('%s, with owners', async (_, scenario) => {
    const owners = { owners: ['album:1', 'user:2'] };
    expect(await whatRemains(OURS, owners, scenario)).toEqual(await whatRemains(BULLMQ, {}, scenario));
  });
});

/** Everything under a prefix, without Mooring's own keys and without times. */
async function dump(redis: Redis, prefix: string): Promise<Record<string, unknown>> {
  const found: Record<string, unknown> = {};
  for (const key of (await redis.keys(`${prefix}:*`)).toSorted()) {
    const name = plain(key, prefix) as string;
    if (/:(marker|stalled-check|stalled)$/.test(name)) continue;
    found[name] = plain(await read(redis, key), prefix);
  }
  return found;
}

async function read(redis: Redis, key: string): Promise<unknown> {
  switch (await redis.type(key)) {
    case 'hash': {
      const { stacktrace, opts = '{}', ...fields } = await redis.hgetall(key);
      const { mooring: _, ...own } = JSON.parse(opts) as Record<string, unknown>;
      return { ...fields, opts: own, ...(stacktrace && { stacktrace: 'some' }) };
    }
    case 'zset':
      // Jobs that ended within one ms may be in any order.
      return Object.fromEntries(pairs(await redis.zrange(key, '0', '-1', 'WITHSCORES')));
    case 'list':
      return redis.lrange(key, 0, -1);
    case 'set':
      return (await redis.smembers(key)).toSorted();
    case 'stream':
      return (await redis.xrange(key, '-', '+')).map(([, fields]) => fields);
    default:
      return redis.get(key);
  }
}

function pairs(values: readonly string[]): [string, string][] {
  return values.flatMap((value, i) => (i % 2 === 0 ? [[value, values[i + 1]!] as [string, string]] : []));
}

/** Replaces times by a word and removes the prefix. */
function plain(value: unknown, prefix: string): unknown {
  return JSON.parse(
    JSON.stringify(value)
      .replaceAll(prefix, '')
      .replaceAll(/(?<![\d.])\d{13,17}(\.\d+)?(?!\d)/g, 'time')
      .replaceAll(/:time(?=[,}])/g, ':"time"')
      .replaceAll(/([[,])time(?=[,\]])/g, '$1"time"'),
  );
}
