import { getQueueToken } from '@nestjs/bullmq';
import { Injectable } from '@nestjs/common';
import type { Queue } from 'bullmq';
import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { recordOf } from '../../../../test/support/cancel-door.js';
import { KeptArtifacts } from '../../../../test/support/kept-artifacts.js';
import { LifecycleApp } from '../../../../test/support/lifecycle-app.js';
import { until } from '../../../../test/support/until.js';
import type { JobArtifacts } from '../artifacts/job.artifacts.js';
import { Enqueuer } from '../enqueue/enqueuer.js';
import { defineKind, type Payload } from '../kinds/kind.js';
import { owner } from '../kinds/owner.js';
import { JobReader } from '../read/job.reader.js';
import { Handler, Handles } from '../run/handler.js';
import type { Run } from '../run/run.js';
import { ArtifactSweep } from './artifact.sweep.js';
import { Quarantine } from './quarantine.js';
import { RetentionSweep } from './retention.sweep.js';
import { SweepBook } from './sweep.book.js';
import { BEGINNING, type Round } from './sweep.js';
import type { SweepRecord } from './sweep.record.js';
import { Sweeper } from './sweeper.js';

const payload = z.object({ fails: z.boolean().default(false) });
const counted = defineKind({
  name: 'counted',
  queue: 'counted',
  payload,
  keep: { age: '1h', count: 3, failed: { count: 2 } },
});
const other = defineKind({ name: 'other', queue: 'counted', payload, keep: { age: '1h', count: 1 } });
const brief = defineKind({ name: 'brief', queue: 'brief', payload, keep: { age: '50ms' } });
const KINDS = [counted, other, brief];
const TRIES = 5;

async function leave(fails: boolean, run: Run): Promise<void> {
  await run.artifacts.put('a', 'x');
  if (fails) throw new Error('told to');
}

@Injectable()
@Handles(counted)
class CountedHandler extends Handler<typeof counted> {
  handle({ fails }: Payload<typeof counted>, run: Run): Promise<void> {
    return leave(fails, run);
  }
}

@Injectable()
@Handles(other)
class OtherHandler extends Handler<typeof other> {
  handle({ fails }: Payload<typeof other>, run: Run): Promise<void> {
    return leave(fails, run);
  }
}

@Injectable()
@Handles(brief)
class BriefHandler extends Handler<typeof brief> {
  handle({ fails }: Payload<typeof brief>, run: Run): Promise<void> {
    return leave(fails, run);
  }
}

describe('finished jobs', () => {
  let app: LifecycleApp;
  let kept: KeptArtifacts;
  let removeAll: JobArtifacts['removeAll'];
  const ownersRecord = (): string => recordOf(app.prefix, 'trip:42');

  beforeEach(async () => {
    const prefix = `test-${randomBytes(6).toString('hex')}`;
    kept = await KeptArtifacts.open(prefix);
    removeAll = (jobId) => kept.store.removeAll(jobId);
    app = await LifecycleApp.start(
      KINDS,
      [CountedHandler, OtherHandler, BriefHandler],
      { concurrency: 1 },
      undefined,
      prefix,
      {
        artifacts: kept.with({ removeAll: (jobId) => removeAll(jobId) }),
        sweeps: { reapHoldMs: 2_000, artifactGraceMs: 500 },
      },
    );
  });
  afterEach(async () => {
    await kept.clear();
    await app.redis.unlink(`${app.prefix}:{quarantine}`, `${app.prefix}:{quarantine}:why`);
    await app.stop();
    await kept.close();
  });

  const sweep = async (order: { dryRun?: boolean; force?: boolean } = {}): Promise<SweepRecord> =>
    (await app.context.get(Sweeper).sweep('retention', order))!;
  const sweepArtifacts = async (): Promise<SweepRecord> =>
    (await app.context.get(Sweeper).sweep('artifacts'))!;
  const queue = (name = 'counted'): Queue => app.context.get<Queue>(getQueueToken(name));

  /** One after the other, each finished before the next begins. */
  async function finish(count: number, kind = counted, fails = false): Promise<string[]> {
    const ids: string[] = [];
    for (let i = 0; i < count; i += 1) {
      const to = { owners: [owner('trip', '42')] };
      const { id } = await app.context.get(Enqueuer).enqueue(kind, { fails }, to);
      await until(async () => /completed|failed/.test((await stateOf(id)) ?? ''), `${id} has ended`);
      ids.push(id);
    }
    // Its places are given up a little later than BullMQ knows that it ended.
    await until(async () => (await app.redis.hlen(ownersRecord())) <= 6, 'no job has a place any more');
    return ids;
  }

  async function stateOf(id: string): Promise<string | undefined> {
    return (await app.context.get(JobReader).read(id))?.state;
  }

  async function nothingIsMarked(): Promise<void> {
    const keys = [`${ownersRecord()}:reap`, `${app.prefix}:{reaping}`, `${app.prefix}:{quarantine}`];
    expect(await app.redis.exists(...keys)).toBe(0);
  }

  it('over their kind’s number go, the oldest first, with what they left; why is kept', async () => {
    const ids = await finish(5);
    const lone = await finish(1, other);
    expect(await kept.jobs()).toHaveLength(6);
    const { sweepId, ...record } = await sweep();
    expect(record).toMatchObject({ state: 'done', removed: 2, failed: 0 });
    const states = await Promise.all([...ids, ...lone].map(stateOf));
    expect(states).toEqual(['removed', 'removed', 'completed', 'completed', 'completed', 'completed']);
    expect(await kept.jobs()).toEqual([...ids.slice(2), ...lone].toSorted());
    expect((await app.context.get(JobReader).read(ids[0]!))?.error).toBe(
      'retention by janitor: there are 3 newer ones of its kind (it was completed)',
    );
    const why = 'there are 3 newer ones of its kind';
    const { lines } = await app.context.get(SweepBook).lines(sweepId, 0);
    expect(lines.toSorted((a, b) => a.what.localeCompare(b.what))).toEqual(
      ids
        .slice(0, 2)
        .map((what) => ({ what, why }))
        .toSorted((a, b) => a.what.localeCompare(b.what)),
    );
    await nothingIsMarked();
    expect(await sweep()).toMatchObject({ removed: 0, failed: 0 });
  });

  it('that failed have a measure of their own', async () => {
    const failed = await finish(3, counted, true);
    const completed = await finish(3);
    expect(await sweep()).toMatchObject({ removed: 1 });
    expect(await Promise.all([...failed, ...completed].map(stateOf))).toEqual([
      'removed',
      'failed',
      'failed',
      'completed',
      'completed',
      'completed',
    ]);
  });

  it('over their age go, though nobody finishes another', async () => {
    const ids = await finish(3, brief);
    await until(async () => {
      await sweep();
      return (await Promise.all(ids.map(stateOf))).every((state) => state === 'removed');
    }, 'all are removed');
    expect(await kept.jobs()).toEqual([]);
  });

  it('would go, says a dry run, and do not', async () => {
    const ids = await finish(5);
    const record = await sweep({ dryRun: true });
    const { lines } = await app.context.get(SweepBook).lines(record.sweepId, 0);
    expect([record.removed, lines.map(({ what }) => what)]).toEqual([2, ids.slice(0, 2)]);
    expect(await Promise.all(ids.map(stateOf))).toEqual(ids.map(() => 'completed'));
    await nothingIsMarked();
  });

  it('that cannot go now stay in a dry run too, which marks none', async () => {
    const ids = await finish(7);
    const marks = `${ownersRecord()}:reap`;
    const now = Date.now();
    await app.redis.hset(ownersRecord(), `j${ids[0]!}`, `1|${now}`);
    await app.redis.hset(
      marks,
      ids[1]!,
      `${now}|1|${now + 60_000}||shut`,
      ids[2]!,
      `${now}|${TRIES}|1||shut`,
    );
    const before = await app.redis.hgetall(marks);
    const { sweepId, ...record } = await sweep({ dryRun: true });
    expect(record).toMatchObject({
      removed: 1,
      failed: 0,
      waiting: 2,
      why: expect.stringMatching(/at rest/),
    });
    const { lines } = await app.context.get(SweepBook).lines(sweepId, 0);
    expect(lines.map(({ what }) => what)).toEqual([ids[3]]);
    expect(await sweep({ dryRun: true, force: true })).toMatchObject({ removed: 3 });
    expect(await app.redis.hgetall(marks)).toEqual(before);
    expect(await app.redis.exists(`${app.prefix}:{reaping}`, `${app.prefix}:{quarantine}`)).toBe(0);
    await app.redis.hdel(ownersRecord(), `j${ids[0]!}`);
    await app.redis.unlink(marks);
  });

  it('go a page at a time, while others finish and another janitor is at it', async () => {
    const ids = await finish(9);
    const retention = app.context.get(RetentionSweep);
    const pages = async (): Promise<number> => {
      let removed = 0;
      for (let position: string | null | undefined; position !== null;) {
        const round = { position, dryRun: false, force: false, signal: new AbortController().signal };
        const page = await retention.sweepOnce(2, round as unknown as Round);
        removed += page.removed ?? 0;
        ({ position } = page);
      }
      return removed;
    };
    const [newest] = await Promise.all([finish(2), pages(), pages()]);
    await pages();
    const all = [...ids, ...newest];
    expect(await Promise.all(all.map(stateOf))).toEqual([
      ...all.slice(0, -3).map(() => 'removed'),
      ...all.slice(-3).map(() => 'completed'),
    ]);
    expect(await kept.jobs()).toEqual(all.slice(-3).toSorted());
    // One that was overtaken by the other has failed once; it goes at the next look.
    await app.redis.unlink(`${ownersRecord()}:reap`, `${app.prefix}:{reaping}`);
  });

  it('that still have a place are kept: they may not have ended for good', async () => {
    const ids = await finish(4);
    await app.redis.hset(ownersRecord(), `j${ids[0]}`, '1|1|1|t');
    expect(await sweep()).toMatchObject({ removed: 0, failed: 0 });
    expect([await stateOf(ids[0]!), (await kept.jobs()).length]).toEqual(['completed', 4]);
    await nothingIsMarked();
    await app.redis.hdel(ownersRecord(), `j${ids[0]}`);
    expect(await sweep()).toMatchObject({ removed: 1 });
  });

  it('of another program are nobody’s to remove', async () => {
    await queue('brief').add('brief', { of: 'another' }, { jobId: 'strange' });
    await until(async () => (await queue('brief').getFailedCount()) === 1, 'it has ended');
    const old = async (): Promise<boolean> => {
      const job = (await queue('brief').getJob('strange')) as { finishedOn: number };
      return Date.now() - job.finishedOn > 100;
    };
    await until(old, 'it is old');
    expect(await sweep()).toMatchObject({ seen: 1, removed: 0, kept: 1 });
  });

  it('of a kind that is not known here are kept, however old: a newer worker’s may be', async () => {
    const [id] = await finish(1);
    await change(id!, 'name', 'counted.newer');
    await endedHoursAgo(id!, 1_000);
    expect(await sweep()).toMatchObject({ seen: 1, removed: 0, kept: 0, unknown: 1 });
    await change(id!, 'name', 'counted');
    await letArtifactsAge(id!);
    expect(await sweep()).toMatchObject({ seen: 1, removed: 1, unknown: 0 });
  });

  it('whose worker’s clock is behind are not over their age when what they left is not', async () => {
    const [id] = await finish(1);
    await endedHoursAgo(id!, 25);
    expect(await sweep()).toMatchObject({ removed: 0, kept: 1, failed: 0 });
    expect([await stateOf(id!), await kept.jobs()]).toEqual(['completed', [id]]);
    await nothingIsMarked();
    await letArtifactsAge(id!);
    expect(await sweep()).toMatchObject({ removed: 1 });
  });

  it('that can be neither read nor marked hold up no other', async () => {
    const ids = await finish(7);
    const poisoned = recordOf(app.prefix, 'trip:43');
    await app.redis.set(`${poisoned}:reap`, 'of another type');
    await change(ids[0]!, 'data', '{');
    const { data } = (await queue().getJob(ids[1]!))!;
    await change(ids[1]!, 'data', JSON.stringify({ ...data, o: ['trip:43'] }));
    expect(await sweep()).toMatchObject({ state: 'done', removed: 2, failed: 1, unknown: 1 });
    expect(await queue().getRanges(['completed'], 0, -1, true)).toEqual([ids[0], ids[1], ...ids.slice(4)]);
    await app.redis.unlink(`${poisoned}:reap`);
    await change(ids[0]!, 'data', JSON.stringify(data));
    expect(await sweep()).toMatchObject({ removed: 2, failed: 0, unknown: 0 });
    await nothingIsMarked();
  });

  /** As BullMQ keeps it. */
  function change(jobId: string, field: string, value: string): Promise<unknown> {
    return app.redis.hset(`{${app.prefix}}:counted:${jobId}`, field, value);
  }

  async function endedHoursAgo(jobId: string, hours: number): Promise<void> {
    const at = Date.now() - hours * 3_600_000;
    await change(jobId, 'finishedOn', String(at));
    await app.redis.zadd(`{${app.prefix}}:counted:completed`, at, jobId);
  }

  async function letArtifactsAge(jobId: string): Promise<void> {
    const lists = await app.redis.keys(`${app.prefix}:{made:?}`);
    await Promise.all(lists.map((list) => app.redis.zadd(list, 'XX', 1, jobId)));
  }

  it('whose artifacts cannot be removed are kept, tried again later, at last left alone, and go when forced', async () => {
    const ids = await finish(5);
    removeAll = (jobId) =>
      jobId === ids[0] ? Promise.reject(new Error('the bucket is shut')) : kept.store.removeAll(jobId);
    const first = await sweep();
    expect(first).toMatchObject({ state: 'done', removed: 1, failed: 1, waiting: 0 });
    const { lines } = await app.context.get(SweepBook).lines(first.sweepId, 0);
    expect(lines).toContainEqual({ what: ids[0], why: 'it could not be removed: the bucket is shut' });
    const trouble = { event: 'sweep.trouble', sweep: 'retention', what: ids[0], why: 'the bucket is shut' };
    expect(app.facts.filter(({ event }) => /trouble|queue.error/.test(event))).toEqual([trouble]);
    expect([await stateOf(ids[0]!), await stateOf(ids[1]!)]).toEqual(['completed', 'removed']);
    expect(await kept.jobs()).toContain(ids[0]);
    // It rests.
    expect(await sweep()).toMatchObject({
      removed: 0,
      failed: 0,
      kept: 4,
      waiting: 1,
      why: '1 at rest after a failure, one of them for this: the bucket is shut',
    });

    for (let tries = 2; tries <= TRIES; tries += 1) {
      await letItRest(ids[0]!);
      expect(await sweep()).toMatchObject({ removed: 0, failed: 1 });
    }
    await letItRest(ids[0]!);
    expect(await sweep()).toMatchObject({
      failed: 0,
      waiting: 1,
      why: '1 in quarantine: see GET /v1/admin/quarantine',
    });
    const { jobs } = await app.context.get(Quarantine).page(0);
    expect(jobs).toEqual([{ jobId: ids[0], at: expect.any(String), why: 'the bucket is shut' }]);

    removeAll = (jobId) => kept.store.removeAll(jobId);
    expect(await sweep()).toMatchObject({ removed: 0 });
    expect(await sweep({ force: true })).toMatchObject({ removed: 1 });
    expect(await stateOf(ids[0]!)).toBe('removed');
    await nothingIsMarked();
  });

  it('are left by who takes too long: another may be at it by now', async () => {
    const ids = await finish(4);
    let isSlow = true;
    removeAll = async (jobId) => {
      const removed = await kept.store.removeAll(jobId);
      const began = performance.now();
      await until(() => !isSlow || performance.now() - began > 1_200, 'half of its hold is over');
      return removed;
    };
    expect(await sweep()).toMatchObject({ removed: 0, failed: 1 });
    expect(await stateOf(ids[0]!)).toBe('completed');
    isSlow = false;
    await letItRest(ids[0]!);
    expect(await sweep()).toMatchObject({ removed: 1 });
  });

  /** As if the time had passed for which one that failed is left. */
  async function letItRest(jobId: string): Promise<void> {
    const [since, tries] = (await app.redis.hget(`${ownersRecord()}:reap`, jobId))!.split('|');
    await app.redis.hset(`${ownersRecord()}:reap`, jobId, `${since}|${tries}|0|`);
  }

  describe('that are gone by another road', () => {
    it('leave artifacts that one sweep removes, once they are old enough', async () => {
      const [id, stays] = await finish(2);
      await queue().remove(id!);
      const young = await sweepArtifacts();
      expect(young.removed + young.kept).toBe(2);
      await until(async () => (await sweepArtifacts()).removed === 1 || young.removed === 1, 'they are old');
      expect(await kept.jobs()).toEqual([stays]);
      const { removed, kept: left } = await sweepArtifacts();
      expect([removed, left]).toEqual([0, 1]);
    });

    it('leave them also where their ids still stand among those that ended', async () => {
      const [id, stays] = await finish(2);
      await app.redis.unlink(`{${app.prefix}}:counted:${id}`);
      expect(await queue().getJobState(id!)).toBe('completed');
      await until(async () => (await sweepArtifacts()).removed === 1, 'they are old');
      expect(await kept.jobs()).toEqual([stays]);
      await queue().remove(id!);
    });

    it('are looked for from the beginning again when it was stopped there', async () => {
      const stopped = AbortSignal.abort();
      const round = { position: undefined, dryRun: false, force: false, signal: stopped } as unknown as Round;
      expect((await app.context.get(ArtifactSweep).sweepOnce(10, round)).position).toBe(BEGINNING);
    });

    it('keep what was written just now', async () => {
      const [id] = await finish(1);
      await queue().remove(id!);
      await kept.store.put({ jobId: id!, fence: '1' }, 'b', 'x');
      expect(await sweepArtifacts()).toMatchObject({ removed: 0, kept: 1 });
      expect(await kept.jobs()).toEqual([id]);
    });

    it('fail one by one when their store does, and are found again', async () => {
      const ids = await finish(2);
      for (const id of ids) await queue().remove(id);
      removeAll = (jobId) =>
        jobId === ids[0] ? Promise.reject(new Error('shut')) : kept.store.removeAll(jobId);
      const isOneLeft = async (): Promise<boolean> => (await kept.jobs()).join() === ids[0];
      await until(async () => (await sweepArtifacts()).failed === 1 && (await isOneLeft()), 'one is left');
      removeAll = (jobId) => kept.store.removeAll(jobId);
      expect(await sweepArtifacts()).toMatchObject({ removed: 1, failed: 0 });
    });
  });
});
