import { viewOfReceipt, type Fact } from '#nestjs';
import { Redis } from 'ioredis';
import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { TestStore } from '../../../../test/support/store.js';
import { until } from '../../../../test/support/until.js';
import { readEvent } from '../cloud-event.js';
import type { EventFact } from '../facts.js';
import { StreamPublisher } from './stream-publisher.js';
import type { PublishLevel } from './outbound-event.js';

const job = { queue: 'q', kind: 'k', jobId: 'q-1', owner: 'trip:42' };
const receipt = {
  cancelId: 'c-1',
  owner: 'trip:42',
  epoch: '7',
  reason: 'gone',
  by: 'ops',
  at: Date.parse('2026-01-01T00:00:00.000Z'),
  closed: true,
  late: false,
  removed: 1,
  aborted: 0,
  acknowledged: 0,
  abandoned: 0,
  byQueue: { q: { waiting: 1 } },
  schedules: 0,
  done: true,
  durable: true,
};
const cancelled: Fact = { event: 'owner.cancelled', ...receipt };
const ENDS: Fact[] = [
  { event: 'job.completed', ...job, tookMs: 7, lifetimeMs: 9 },
  { event: 'job.failed', ...job, tookMs: 7, why: 'broken', final: true, lifetimeMs: 9 },
  ...(['job.cancelled', 'job.expired', 'job.skipped'] as const).map((event): Fact => {
    return { event, ...job, why: 'so' };
  }),
];
const UNPUBLISHED: Fact[] = [
  { event: 'job.accepted', ...job },
  { event: 'job.began', ...job, attempt: 1 },
  { event: 'job.failed', ...job, tookMs: 7, why: 'broken', final: false },
  { event: 'owner.cancelled', ...receipt, jobOnly: true },
];

describe('StreamPublisher', () => {
  const prefix = `test-${randomBytes(6).toString('hex')}`;
  const key = `${prefix}:events:out`;
  let lost: EventFact[];
  let redis: Redis;

  beforeEach(() => {
    lost = [];
    redis = new Redis(inject('storeUrl'), { maxRetriesPerRequest: null });
  });

  afterEach(async () => {
    await redis.del(key);
    await redis.quit();
  });

  function out(publish: PublishLevel = 'all', keep = 10_000, store = redis): StreamPublisher {
    return new StreamPublisher({
      redis: store,
      prefix,
      publish,
      keep,
      listeners: [(fact) => lost.push(fact)],
    });
  }

  async function written(): Promise<Record<string, unknown>[]> {
    const entries = await redis.xrange(key, '-', '+');
    return entries.map(([, [name, event]]) => {
      expect(name).toBe('event');
      return JSON.parse(event!) as Record<string, unknown>;
    });
  }

  it('publishes a cancelled owner as a CloudEvent with the receipt', async () => {
    const events = out();
    void events.publish(cancelled);
    await events.onApplicationShutdown();
    const [event] = await written();
    expect(event).toEqual({
      specversion: '1.0',
      id: 'owner.cancelled:c-1',
      source: `/mooring/${prefix}`,
      type: 'owner.cancelled',
      subject: 'trip:42',
      time: expect.any(String),
      datacontenttype: 'application/json',
      data: {
        cancelId: 'c-1',
        owner: 'trip:42',
        epoch: '7',
        reason: 'gone',
        by: 'ops',
        at: '2026-01-01T00:00:00.000Z',
        closed: true,
        removed: 1,
        aborted: 0,
        acknowledged: 0,
        ignored: 0,
        running: 0,
        byQueue: { q: { removed: { waiting: 1 }, aborted: 0, running: 0 } },
        schedules: 0,
        done: true,
        durable: true,
      },
    });
    expect(readEvent(event)).toMatchObject({ data: viewOfReceipt(receipt) });
  });

  it('publishes every final outcome of a job with a unique id', async () => {
    const events = out();
    for (const fact of [...ENDS, ...UNPUBLISHED]) void events.publish(fact);
    await events.onApplicationShutdown();
    const all = await written();
    expect(all.map(({ type, subject, data }) => [type, subject, data])).toEqual([
      ['job.completed', 'q-1', { ...job, tookMs: 7, lifetimeMs: 9 }],
      ['job.failed', 'q-1', { ...job, tookMs: 7, why: 'broken', final: true, lifetimeMs: 9 }],
      ['job.cancelled', 'q-1', { ...job, why: 'so' }],
      ['job.expired', 'q-1', { ...job, why: 'so' }],
      ['job.skipped', 'q-1', { ...job, why: 'so' }],
    ]);
    expect(new Set(all.map(({ id }) => id)).size).toBe(ENDS.length);
  });

  it('publishes facts of a workload that have a newsId under their own name', async () => {
    const events = out();
    const lease = {
      what: 'lease.cleanup',
      owner: 'lease:1',
      status: 'done',
      facts: { action: 'stop' },
    } as const;
    void events.publish({ event: 'workload', ...lease });
    void events.publish({
      event: 'workload',
      ...lease,
      what: 'lease.expired',
      newsId: 'lease.expired:1',
      facts: { leaseId: '1' },
    });
    await events.onApplicationShutdown();
    expect(await written()).toMatchObject([
      {
        id: 'lease.expired:1',
        type: 'lease.expired',
        subject: 'lease:1',
        data: { owner: 'lease:1', leaseId: '1' },
      },
    ]);
  });

  it('publishes sweeps that ended or tripped, except scheduled expiry sweeps that found nothing', async () => {
    const events = out();
    const record = {
      sweepId: 's-1',
      askedAt: '2026-01-01T00:00:00.000Z',
      dryRun: false,
      force: false,
      seen: 1,
      removed: 0,
      kept: 1,
      unknown: 0,
      failed: 0,
      healed: 0,
      jobs: 0,
      tookMs: 3,
      worstStallMs: 1,
    };
    void events.publish({ event: 'sweep.done', sweep: 'orphans', ...record });
    void events.publish({ event: 'sweep.done', sweep: 'expiry', ...record });
    void events.publish({ event: 'sweep.done', sweep: 'expiry', ...record, removed: 1 });
    void events.publish({ event: 'sweep.done', sweep: 'expiry', ...record, sweepId: 's-2', onRequest: true });
    void events.publish({ event: 'sweep.tripped', sweep: 'orphans', ...record, why: 'too many' });
    void events.publish({ event: 'sweep.stopped', sweep: 'orphans', ...record });
    await events.onApplicationShutdown();
    expect((await written()).map(({ id, type, subject }) => [id, type, subject])).toEqual([
      ['sweep.done:s-1', 'sweep.done', 'orphans'],
      ['sweep.done:s-1', 'sweep.done', 'expiry'],
      ['sweep.done:s-2', 'sweep.done', 'expiry'],
      ['sweep.tripped:s-1', 'sweep.tripped', 'orphans'],
    ]);
  });

  it.each<[PublishLevel, number]>([
    ['off', 0],
    ['owners', 1],
    ['all', 6],
  ])('publishes at level %s %i of these events', async (level, count) => {
    const events = out(level);
    for (const fact of [cancelled, ...ENDS]) void events.publish(fact);
    await events.onApplicationShutdown();
    expect(await written()).toHaveLength(count);
  });

  it('bounds the length of the stream', async () => {
    const events = out('all', 100);
    for (let i = 0; i < 2_000; i += 1) void events.publish(ENDS[0]!);
    await events.onApplicationShutdown();
    expect(await redis.xlen(key)).toBeLessThan(400);
    expect(lost).toEqual([]);
  });

  it('reports events that the store refuses as lost', async () => {
    await redis.set(key, 'no stream');
    const events = out();
    for (const fact of ENDS) void events.publish(fact);
    await events.onApplicationShutdown();
    expect(lost).toEqual([{ event: 'events.lost', count: 5, why: expect.stringMatching(/WRONGTYPE/) }]);
  });

  it('continues after a listener that throws', async () => {
    const broken = new Error('broken listener');
    const fail = (): never => {
      throw broken;
    };
    const warned: Error[] = [];
    const listen = (warning: Error): void => void warned.push(warning);
    process.on('warning', listen);
    await redis.set(key, 'no stream');
    const events = new StreamPublisher({ redis, prefix, publish: 'all', keep: 100, listeners: [fail] });
    try {
      await events.publish(ENDS[0]!);
      await until(() => warned.includes(broken), 'the error is reported');
      await redis.del(key);
      await events.publish(cancelled);
      await until(async () => (await redis.xlen(key)) === 1, 'the next event is written');
    } finally {
      process.off('warning', listen);
      await events.onApplicationShutdown();
    }
  });

  it('buffers a limited number of events while the store is unavailable, without blocking callers', async () => {
    const store = await TestStore.start();
    const own = new Redis(store.url, { maxRetriesPerRequest: null });
    try {
      await own.ping();
      const events = out('all', 100_000, own);
      store.freeze();
      const began = performance.now();
      for (let i = 0; i < 12_000; i += 1) void events.publish(ENDS[0]!);
      expect(performance.now() - began).toBeLessThan(5_000);
      expect(lost).toEqual([{ event: 'events.lost', count: 1, why: expect.any(String) }]);
      store.thaw();
      await until(async () => (await own.xlen(key)) === 10_000, 'the buffered events are written');
      await events.onApplicationShutdown();
      expect(lost).toEqual([
        expect.objectContaining({ count: 1 }),
        expect.objectContaining({ count: 1_999 }),
      ]);
    } finally {
      own.disconnect();
      await store.stop();
    }
  });
});
