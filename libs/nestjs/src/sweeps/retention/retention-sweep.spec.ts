import '../../register.js';
import { Injectable, type INestApplicationContext } from '@nestjs/common';
import type { MooredQueue } from '#core';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { CoreKit, until } from '../../../../../test/support/core-kit.js';
import { KeptArtifacts } from '../../../../../test/support/kept-artifacts.js';
import { startNestApp } from '../../../../../test/support/nest-app.js';
import {
  defineKind,
  JobKeeper,
  Keeps,
  MooringModule,
  Quarantine,
  SweepBook,
  Sweeper,
  JobHistory,
  type FinishedJob,
  type MooringOptions,
  type Page,
  type SweepRecord,
} from '../../index.js';
import { RetentionSweep } from './retention-sweep.js';

const few = defineKind({
  name: 'few',
  queue: 'work',
  payload: z.any(),
  keep: { count: 2, failed: { count: 1 } },
});
const old = defineKind({
  name: 'old',
  queue: 'work',
  payload: z.any(),
  keep: { age: '1s' },
  artifacts: true,
});
const build = defineKind({
  name: 'build',
  queue: 'builds',
  payload: z.any(),
  keep: { count: 1 },
  keepWanted: true,
});

const plain = defineKind({ name: 'plain', queue: 'plain', payload: z.any(), keep: { count: 1 } });

const wanted = new Set<string>();

@Injectable()
@Keeps(build)
class BuildKeeper extends JobKeeper {
  async wanted(jobs: readonly FinishedJob[]): Promise<ReadonlySet<string>> {
    if (wanted.has('error')) throw new Error('the sites are away');
    return new Set(jobs.filter(({ id }) => wanted.has(id)).map(({ id }) => id));
  }
}

let ids = 0;

describe('finished jobs', () => {
  let kit: CoreKit;
  let queue: MooredQueue;
  let stored: KeptArtifacts;
  let artifacts: KeptArtifacts['store'];
  let app: INestApplicationContext;

  beforeEach(async () => {
    kit = new CoreKit();
    wanted.clear();
    queue = kit.queue('work');
    stored = await KeptArtifacts.open(kit.prefix);
    artifacts = stored.store;
    app = await start({ artifacts });
  });

  afterEach(async () => {
    await app.close();
    await stored.clear();
    await stored.close();
    await kit.stop();
  });

  function start(more: Partial<MooringOptions>): Promise<INestApplicationContext> {
    const options = { ...kit.place, sweeps: { timers: false, artifactGrace: 1 }, ...more };
    return startNestApp({
      imports: [MooringModule.forRoot(options), MooringModule.forKinds([few, old, build, plain])],
      providers: [BuildKeeper],
    });
  }

  const sweep = async (kind = 'retention', order = {}): Promise<SweepRecord> =>
    (await app.get(Sweeper).sweep(kind, order))!;
  const kept = (from = queue): Promise<string[]> => from.getRanges(['completed', 'failed'], 0, -1, true);
  const withArtifacts = async (jobs: readonly string[]): Promise<string[]> => {
    const written = await Promise.all(jobs.map((id) => artifacts.writtenAt(id)));
    return jobs.filter((_, i) => written[i] !== undefined);
  };

  /** Ends jobs one after the other, each with an artifact. Returns their ids. */
  async function end(names: readonly string[], in_ = queue): Promise<string[]> {
    const ended: string[] = [];
    const worker = kit.worker(
      async ({ data }) => {
        if (data.fails) throw new Error('no');
      },
      { queue: in_.name },
    );
    for (const name of names) {
      const jobId = `${in_.name}-${String((ids += 1)).padStart(20, '0')}`;
      await artifacts.put({ jobId, fence: '1' }, 'a', 'x');
      const job = await in_.add(name, { fails: name.endsWith('!') }, { jobId, owners: ['trip:1'] });
      await until(async () => (await job.isCompleted()) || (await job.isFailed()), 'it has ended');
      const at = Date.now();
      await until(() => Date.now() > at, 'no two end in one ms');
      ended.push(jobId);
    }
    await worker.close();
    return ended;
  }

  it('beyond the limit of their kind are removed, the oldest first, with their artifacts', async () => {
    const [a, b, c, d] = await end(['few', 'few', 'few', 'few']);

    const record = await sweep();

    expect(record).toMatchObject({ state: 'done', seen: 4, removed: 2, kept: 2, failed: 0 });
    expect(await kept()).toEqual([c, d]);
    expect(await withArtifacts([a!, b!, c!, d!])).toEqual([c, d]);
    expect((await app.get(SweepBook).lines(record.sweepId, 0)).lines).toContainEqual({
      what: a,
      why: 'there are 2 newer ones of its kind',
    });
    expect(await app.get(JobHistory).findRemoved('work', a!)).toMatchObject({
      kind: 'few',
      owners: ['trip:1'],
      reason: 'retention',
      words: 'retention by janitor: there are 2 newer ones of its kind (it was completed)',
    });
  });

  it('are removed by age once their artifacts are as old, and those of an unknown kind stay', async () => {
    const [aged, other] = await end(['old', 'other']);
    // The clock of the worker that ended the job was behind.
    await kit.redis.zadd(`${kit.prefix}:work:completed`, 1_000, aged!);
    await kit.redis.hset(`${kit.prefix}:work:${aged}`, 'finishedOn', 1_000);
    expect(await sweep()).toMatchObject({ removed: 0, kept: 1, unknown: 1 });
    await until(async () => (await sweep()).removed === 1, 'its artifacts are old as well', 5_000);
    expect(await kept()).toEqual([other]);
  });

  it('are removed page by page, each counted once, while others end', async () => {
    await end(Array.from({ length: 12 }, () => 'few'));
    const retention = app.get(RetentionSweep);
    const { signal } = new AbortController();
    const round = {
      sweepId: 's',
      dryRun: false,
      force: false,
      lock: { key: '', fence: '', lockMs: 0 },
      signal,
    };
    let position: string | null | undefined;
    let removed = 0;
    while (position !== null) {
      const page: Page = await retention.sweepOnce(3, { ...round, position });
      if (removed === 0 && page.removed) await end(['few']);
      removed += page.removed ?? 0;
      position = page.position;
    }
    expect(removed).toBe(10);
    expect(await kept()).toHaveLength(3);
  });

  it('stay in a dry run, which lists what it would remove', async () => {
    const all = await end(['few', 'few', 'few']);
    expect(await sweep('retention', { dryRun: true })).toMatchObject({ removed: 1, kept: 2 });
    expect(await kept()).toEqual(all);
    expect(await withArtifacts(all)).toEqual(all);
  });

  it('stay while their keeper wants them or fails', async () => {
    const builds = kit.queue('builds');
    const [a, b, c] = await end(['build', 'build', 'build'], builds);
    wanted.add('error');
    expect(await sweep()).toMatchObject({ removed: 0 });
    wanted.delete('error');
    wanted.add(a!);
    expect(await sweep()).toMatchObject({ removed: 1 });
    expect((await kept(builds)).toSorted()).toEqual([a, c]);
    expect(await withArtifacts([a!, b!, c!])).toEqual([a, c]);
  });

  it('that are retried while their artifacts are removed stay', async () => {
    const [a] = await end(['few', 'few', 'few']);
    const removeAll = artifacts.removeAll.bind(artifacts);
    artifacts.removeAll = async (id) => {
      await queue.retry(id);
      return removeAll(id);
    };
    expect(await sweep()).toMatchObject({ removed: 0, kept: 3 });
    expect(await (await queue.getJob(a!))?.getState()).toBe('prioritized');
    await kit.owners.cancel('trip:1', { wait: 'drained', close: false });
  });

  it('stay when their artifacts cannot be removed, are skipped after five sweeps, and are removed when forced', async () => {
    const [a] = await end(['few', 'few', 'few']);
    const removeAll = artifacts.removeAll.bind(artifacts);
    artifacts.removeAll = () => Promise.reject(new Error('the bucket is shut'));
    for (let i = 0; i < 5; i += 1)
      expect(await sweep()).toMatchObject({ state: 'done', removed: 0, failed: 1 });
    expect(await sweep()).toMatchObject({
      failed: 0,
      waiting: 1,
      why: expect.stringContaining('1 in quarantine'),
    });
    expect((await app.get(Quarantine).page(0)).jobs).toMatchObject([{ jobId: a, why: 'the bucket is shut' }]);
    artifacts.removeAll = removeAll;
    expect(await sweep('retention', { force: true })).toMatchObject({ removed: 1 });
    expect(await app.get(Quarantine).count()).toBe(0);
  });

  it('are removed by BullMQ alone in a queue whose kinds have no artifacts', async () => {
    const others = kit.queue('plain');
    await end(['plain', 'plain'], others);
    expect(await sweep()).toMatchObject({ state: 'done', seen: 0 });
    expect(await kept(others)).toHaveLength(2);
  });

  it('that no longer exist leave artifacts that a sweep removes once they are old enough', async () => {
    const [gone, stays] = await end(['few', 'few']);
    await queue.remove(gone!);
    await app.close();
    app = await start({ artifacts, sweeps: { timers: false, artifactGrace: '1h' } });
    expect(await sweep('artifacts')).toMatchObject({ seen: 2, kept: 2 });
    await app.close();
    app = await start({ artifacts });

    expect(await sweep('artifacts', { dryRun: true })).toMatchObject({ removed: 1 });
    const record = await sweep('artifacts');

    expect(record).toMatchObject({ seen: 2, removed: 1, kept: 1 });
    expect((await app.get(SweepBook).lines(record.sweepId, 0)).lines).toEqual([
      { what: gone, why: 'its job is gone' },
    ]);
    expect(await withArtifacts([gone!, stays!])).toEqual([stays]);
  });

  it('of a cancel whose process was killed are removed by a repair', async () => {
    await queue.addBulk(
      Array.from({ length: 700 }, () => ({ name: 'few', data: {}, opts: { owners: ['trip:2'] } })),
    );
    await kit.cancelAndDie('trip:2', 'c1');
    expect(await sweep('repair', { dryRun: true })).toMatchObject({ healed: 1 });
    expect(await sweep('repair')).toMatchObject({ state: 'done', healed: 1 });
    expect(await kit.owners.receipt('c1')).toMatchObject({ done: true });
    expect(await sweep('repair')).toMatchObject({ healed: 0 });
  });
});
