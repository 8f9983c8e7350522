import 'reflect-metadata';
import '../register.js';
import { Owners, owner } from '#core';
import { BullModule } from '@nestjs/bullmq';
import type { INestApplicationContext } from '@nestjs/common';
import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { KindApp } from '../../../../test/support/kind-app.js';
import { until } from '../../../../test/support/until.js';
import {
  defineKind,
  Enqueuer,
  Handler,
  Handles,
  JobFinder,
  type EnqueueOptions,
  type Payload,
  type Run,
} from '../index.js';
import type { JobFilter, ListedJob } from '../index.js';
import { ApplicationQueues } from '../queues/application-queues.js';

const work = defineKind({
  name: 'audio.work',
  queue: 'audio',
  payload: z.object({ does: z.enum(['ends', 'fails', 'retries', 'waits']).default('ends') }),
  owners: () => [owner('track', '1')],
  attempts: 2,
  backoff: ['1h'],
  keep: { count: 10_000 },
});
const other = defineKind({
  name: 'video.work',
  queue: 'video',
  payload: z.object({}),
  owners: () => [owner('film', '1')],
});

@Handles(work)
class WorkHandler extends Handler<typeof work> {
  async handle({ does }: Payload<typeof work>, { signal, attempt }: Run): Promise<unknown> {
    if (does === 'fails' || (does === 'retries' && attempt === 1))
      throw new Error(`no tape in drive ${does}`);
    if (does === 'waits' && !signal.aborted) await once(signal, 'abort');
    return 1;
  }
}

@Handles(other)
class OtherHandler extends Handler<typeof other> {
  async handle(): Promise<unknown> {
    return 1;
  }
}

describe('a list of jobs', () => {
  let kit: KindApp;
  let app: INestApplicationContext;

  beforeEach(() => (kit = new KindApp()));
  afterEach(() => kit.stop());

  const enqueue = async (options: EnqueueOptions = {}, does = 'ends'): Promise<string> =>
    (await app.get(Enqueuer).enqueue(work, { does: does as 'ends' }, options)).id;
  const start = async (): Promise<void> => void (app = await kit.start([work, other]));
  const find = (filter: JobFilter = {}, limit?: number, cursor?: string) =>
    app.get(JobFinder).find(filter, { cursor, limit });
  const ids = (jobs: readonly ListedJob[]): string[] => jobs.map(({ id }) => id);

  /** Pages until the last one. What `between` does happens after each page. */
  async function all(filter: JobFilter, limit: number, between = async (): Promise<void> => undefined) {
    const [found, sizes]: [ListedJob[], number[]] = [[], []];
    let cursor: string | null | undefined;
    do {
      const page = await find(filter, limit, cursor ?? undefined);
      found.push(...page.jobs);
      sizes.push(page.jobs.length);
      cursor = page.cursor;
      if (cursor !== null) await between();
    } while (cursor !== null);
    return { found, sizes };
  }

  /** One after the other, so that no two are accepted in one millisecond. */
  async function enqueueMany(count: number, options: (i: number) => EnqueueOptions = () => ({})) {
    const made: string[] = [];
    for (let i = 0; i < count; i += 1) {
      made.push(await enqueue(options(i)));
      const at = Date.now();
      await until(() => Date.now() > at, 'a millisecond is over');
    }
    return made;
  }

  it('shows the newest first, whatever their states and priorities', async () => {
    await start();
    const made = await enqueueMany(9, (i) => [{}, { delay: '1h' }, { priority: 200 - i }][i % 3]!);

    const { found, sizes } = await all({}, 4);

    expect(ids(found)).toEqual(made.toReversed());
    expect(sizes).toEqual([4, 4, 1]);
    expect(found.map(({ state }) => state).slice(-3)).toEqual(['waiting', 'delayed', 'waiting']);
    expect(found[1]).toMatchObject({
      kind: 'audio.work',
      queue: 'audio',
      owners: ['track:1'],
      state: 'delayed',
      error: null,
      attempts: 0,
      dueAt: expect.any(String),
      beganAt: null,
    });
  });

  it('shows each job in its state, and finds it by any mix of filters', async () => {
    app = await kit.startWorker([work, other], [WorkHandler, OtherHandler]);
    const fails = await enqueue({}, 'fails');
    const retries = await enqueue({ owners: ['track:2', 'album:1'] }, 'retries');
    const waits = await enqueue({}, 'waits');
    const delayed = await enqueue({ delay: '1h' });
    const ends = await enqueue();
    const stateOf = async (id: string) => (await find()).jobs.find((job) => job.id === id)?.state;
    await until(async () => (await stateOf(ends)) === 'completed', 'it has completed');
    await until(async () => (await stateOf(waits)) === 'running', 'it runs');
    for (const id of [fails, retries])
      await until(async () => (await stateOf(id)) === 'retrying', 'it waits to be tried again');
    const queue = app.get(ApplicationQueues).find('audio')!;
    await (await queue.getJob(fails))!.promote();
    await until(async () => (await stateOf(fails)) === 'failed', 'it has failed');

    const table: [JobFilter, string[]][] = [
      [{ state: 'failed' }, [fails]],
      [{ state: 'retrying' }, [retries]],
      [{ state: 'running' }, [waits]],
      [{ state: 'delayed' }, [delayed]],
      [{ state: 'completed' }, [ends]],
      [{ state: 'waiting' }, []],
      [{ owner: 'album:1' }, [retries]],
      [{ owner: 'track:1', state: 'failed' }, [fails]],
      [{ owner: 'track:1' }, [ends, delayed, waits, fails]],
      [{ owner: 'track:3' }, []],
      [{ error: 'drive fails' }, [fails]],
      [{ error: 'no tape', state: 'retrying', owner: 'track:2', kind: 'audio.work' }, [retries]],
      [{ queue: 'video' }, []],
      [{ kind: 'video.work' }, []],
      [{ kind: 'audio.work', queue: 'video' }, []],
    ];
    for (const [filter, expected] of table)
      expect([filter, ids((await find(filter)).jobs).toSorted()]).toEqual([filter, expected.toSorted()]);
    await expect(find({ kind: 'unknown' })).rejects.toMatchObject({ code: 'INVALID' });
    expect((await find({ state: 'failed' })).jobs[0]).toMatchObject({
      error: 'no tape in drive fails',
      attempts: 2,
      beganAt: expect.any(String),
      endedAt: expect.any(String),
    });
    await kit.owners.cancel('track:1', { wait: 'drained' });
    await kit.owners.cancel('track:2', { wait: 'drained' });
  });

  it('finds removed jobs by their states, of an owner and of all', async () => {
    await start();
    const [a, b] = await enqueueMany(2);
    await app.get(Enqueuer).enqueue(other, {}, {});
    await app.get(Owners).cancel('film:1', { close: false });
    await app.get(Owners).cancel('track:1', { close: false, reason: 'called off', by: 'ann' });
    const [c] = await enqueueMany(1);

    const ofOwner = (await find({ owner: 'track:1', state: 'removed' })).jobs;
    expect(ids(ofOwner)).toEqual([b, a]);
    expect(ofOwner[0]).toMatchObject({
      state: 'removed',
      error: 'cancelled by ann: called off (it was waiting)',
      endedAt: expect.any(String),
    });
    expect(ids((await find({ queue: 'audio', state: 'removed' })).jobs)).toEqual([b, a]);
    expect((await find({ state: 'removed' })).jobs).toHaveLength(3);
    expect((await find({ state: 'expired' })).jobs).toEqual([]);
    expect(ids((await find()).jobs)).toEqual([c]);
  });

  it('refuses names of queues and kinds that there are not, with the nearest that there are', async () => {
    await start();
    await enqueueMany(2);
    const refused = (why: string): object => ({ code: 'INVALID', message: why });

    await expect(find({ queue: 'adio' })).rejects.toMatchObject(
      refused('There is no queue named "adio". Did you mean audio?'),
    );
    await expect(find({ kind: `${work.name}s` })).rejects.toMatchObject(
      refused(`There is no kind named "${work.name}s". Did you mean ${work.name}?`),
    );
    await expect(find({ queue: 'nothing' })).rejects.toMatchObject(
      refused('There is no queue named "nothing".'),
    );
    await expect(find({ kind: 'nonesuch' })).rejects.toMatchObject(
      refused('There is no kind named "nonesuch".'),
    );
    expect((await find({ kind: work.name, state: 'failed' })).jobs).toEqual([]);
    // Another release may know more kinds.
    const add = { owners: ['track:1'] };
    await app
      .get(ApplicationQueues)
      .find('audio')!
      .addBulk([1, 2].map(() => ({ name: 'newer', data: {}, opts: add })));
    const { found, sizes } = await all({ kind: 'newer' }, 1);
    expect([found.length, sizes]).toEqual([2, [1, 1]]);
  });

  it('lists a queue that has no kinds by any name', async () => {
    app = await kit.start([work], [], {
      imports: [BullModule.registerQueue({ name: 'plain', connection: kit.redis, prefix: kit.prefix })],
    });
    expect((await find({ kind: 'nonesuch' })).jobs).toEqual([]);
    expect((await find({ queue: 'plain', kind: 'nonesuch' })).jobs).toEqual([]);
    await expect(find({ queue: 'audio', kind: 'nonesuch' })).rejects.toMatchObject({ code: 'INVALID' });
  });

  it('neither repeats nor leaves out a job while others come and go between the pages', async () => {
    await start();
    const made = await enqueueMany(40, (i) => (i % 4 === 0 ? { delay: '1h' } : { priority: 1 + (i % 3) }));
    const queue = app.get(ApplicationQueues).find('audio')!;
    let gone = made.filter((_, i) => i % 5 === 2);
    const newer: string[] = [];

    const { found } = await all({}, 7, async () => {
      newer.push(await enqueue());
      for (const id of gone.splice(0, 2)) await queue.remove(id);
    });

    const left = made.filter((_, i) => i % 5 !== 2).toReversed();
    expect(new Set(ids(found)).size).toBe(found.length);
    expect(ids(found).filter((id) => left.includes(id))).toEqual(left);
    expect(ids(found).filter((id) => newer.includes(id))).toEqual([]);
  });

  describe('of more jobs than a page may look at', () => {
    async function enqueueAtOnce(count: number, options: (i: number) => EnqueueOptions): Promise<string[]> {
      const tickets = Array.from({ length: count }, (_, i) => enqueue(options(i)));
      return Promise.all(tickets);
    }

    it('merges the lists of the queues, in pages that look at a bounded number of jobs', async () => {
      await start();
      const queue = app.get(ApplicationQueues).find('audio')!;
      const made = await enqueueAtOnce(2_400, (i) =>
        i % 3 === 0 ? { delay: `${1 + (i % 50)}h` } : { priority: 1 + (i % 130), owners: [`track:${i % 2}`] },
      );
      const plain = await queue.addBulk(
        Array.from({ length: 700 }, (_, i) => ({
          name: 'audio.work',
          data: {},
          opts: { jobId: `plain ${i}` },
        })),
      );
      const before = [...made, ...plain.map(({ id }) => id!)];
      const gone = before.filter((_, i) => i % 31 === 0);
      const rest = gone.slice();

      const { found, sizes } = await all({}, 300, async () => {
        for (const id of rest.splice(0, 12)) await queue.remove(id);
        await enqueueAtOnce(20, (i) => ({ priority: 1 + i * 7 }));
        await queue.add('audio.work', {});
      });

      const seen = ids(found);
      expect(new Set(seen).size).toBe(seen.length);
      expect(before.filter((id) => !gone.includes(id) && !seen.includes(id))).toEqual([]);
      expect(Math.max(...sizes)).toBeLessThanOrEqual(300);
      await queue.obliterate({ force: true });
    });

    it('answers fewer than asked, and a cursor, when few of them match', async () => {
      await start();
      await enqueueAtOnce(1_500, () => ({ owners: ['track:2'], delay: '1h' }));
      const [first] = await enqueueMany(1);
      await enqueueAtOnce(1_500, () => ({ owners: ['track:2'], delay: '2h' }));
      const found = await all({ error: 'nothing' }, 10);
      expect(found.found).toEqual([]);
      expect(found.sizes.length).toBeGreaterThanOrEqual(3);
      // A list of an owner with few jobs does not read those of others.
      expect(await find({ owner: 'track:1' }, 10)).toMatchObject({ jobs: [{ id: first }], cursor: null });
      const many = await all({ owner: 'track:2' }, 500);
      expect(new Set(ids(many.found)).size).toBe(3_000);
    });
  });

  it('refuses a cursor that is none, or that of other filters', async () => {
    await start();
    await enqueueMany(3);
    const { cursor } = await find({}, 1);
    const change = (more: object): string =>
      Buffer.from(
        JSON.stringify({ ...JSON.parse(Buffer.from(cursor!, 'base64url').toString()), ...more }),
      ).toString('base64url');
    const bad = [
      '',
      'x',
      '0',
      Buffer.from('[]').toString('base64url'),
      Buffer.from('null').toString('base64url'),
    ];
    const forged = [
      { f: 1 },
      { b: 'x' },
      { p: 1 },
      { p: { 'wait/audio': '*' } },
      { p: { meta: '1 x' } },
      { o: 1 },
    ];
    for (const text of [...bad, ...forged.map(change)])
      await expect(find({}, 1, text)).rejects.toMatchObject({ code: 'INVALID' });
    await expect(find({ queue: 'audio' }, 1, cursor!)).rejects.toMatchObject({ code: 'INVALID' });
    expect((await find({}, 2, cursor!)).jobs).toHaveLength(2);
  });
});
