import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { z } from 'zod';
import { recordOf } from '../../../../test/support/cancel-door.js';
import { LifecycleApp } from '../../../../test/support/lifecycle-app.js';
import { until } from '../../../../test/support/until.js';
import { Canceller } from '../cancel/canceller.js';
import { Enqueuer } from '../enqueue/enqueuer.js';
import { defineKind } from '../kinds/kind.js';
import { owner } from '../kinds/owner.js';
import { OwnerReader } from '../read/owner.reader.js';
import { JobReader } from '../read/job.reader.js';
import { OwnerResolver, type OwnerLife } from '../resolvers/owner.resolver.js';
import { Store } from '../store.js';
import { Doomed } from './doomed.js';
import { OwnerDirectory } from './owner.directory.js';
import { OwnerLooks } from './owner.looks.js';
import { writePosition } from './orphan.position.js';
import { OrphanSweep } from './orphan.sweep.js';
import { Sightings } from './sightings.js';
import type { Page } from './sweep.js';
import { SweepBook } from './sweep.book.js';
import type { SweepRecord } from './sweep.record.js';
import { Sweeper } from './sweeper.js';

const call = defineKind({ name: 'call', queue: 'calls', payload: z.object({}) });
const GRACE_MS = 40;

type Resolve = (ids: string[]) => unknown;

/** Says what a test wants it to; by default, that everybody lives. */
class Rides extends OwnerResolver {
  override timeoutMs = 300;
  asked: string[][] = [];
  say: Resolve = alive;

  async resolve(ids: string[]): Promise<ReadonlyMap<string, OwnerLife>> {
    this.asked.push(ids);
    return (await this.say(ids)) as ReadonlyMap<string, OwnerLife>;
  }
}

const all =
  (life: string): Resolve =>
  (ids) =>
    new Map(ids.map((id) => [id, life]));
const alive = all('alive');
const gone = all('gone');
const goneAre =
  (...names: string[]): Resolve =>
  (ids) =>
    new Map(ids.map((id) => [id, names.includes(id) ? 'gone' : 'alive']));

describe('the sweep of orphans', () => {
  let app: LifecycleApp;
  let rides: Rides;
  let sweeper: Sweeper;
  let book: SweepBook;
  beforeEach(async () => {
    rides = new Rides();
    app = await start();
    sweeper = app.context.get(Sweeper);
    book = app.context.get(SweepBook);
  });
  afterEach(async () => {
    for await (const keys of app.redis.scanStream({ match: `${app.prefix}:{owners:*}`, count: 1_000 })) {
      for (const key of keys as string[]) {
        if (!key.endsWith('}')) continue;
        for (const name of await app.redis.zrange(key, 0, '-1')) {
          const [type, id] = name.split(':') as [string, string];
          await app.context.get(Canceller).cancel(owner(type, id), { reason: 'the end of the test' });
        }
      }
    }
    for await (const keys of app.redis.scanStream({ match: `${app.prefix}:{owners:*}:gone`, count: 1_000 }))
      if (keys.length > 0) await app.redis.unlink(...(keys as string[]));
    await app.context.get(SweepBook).acknowledge('orphans');
    await app.stop();
  });

  function start(more: object = {}): Promise<LifecycleApp> {
    return LifecycleApp.start([call], [], undefined, inject('storeUrl'), undefined, {
      worker: undefined,
      resolvers: new Map([['ride', rides]]),
      sweeps: { ownerGraceMs: GRACE_MS, ...more },
    } as never);
  }

  const enqueue = async (id: string, type = 'ride'): Promise<string> =>
    (await app.context.get(Enqueuer).enqueue(call, {}, { owners: [owner(type, id)] })).id;
  const jobsOf = async (id: string): Promise<number> =>
    (await app.context.get(OwnerReader).read(owner('ride', id))).counts.jobs;
  const sweep = async (order: { dryRun?: boolean; force?: boolean } = {}): Promise<SweepRecord> =>
    (await sweeper.sweep('orphans', order))!;
  /** By the store's clock, which is that of the sweep. */
  async function graceIsOver(): Promise<void> {
    const now = async (): Promise<number> => {
      const [seconds, micros] = await app.redis.time();
      return Number(seconds) * 1_000 + Number(micros) / 1_000;
    };
    const began = await now();
    await until(async () => (await now()) - began > GRACE_MS + 2, 'the grace is over');
  }
  async function sweepTwice(): Promise<SweepRecord> {
    await graceIsOver();
    await sweep();
    await graceIsOver();
    return sweep();
  }

  it('ends the jobs of an owner that was seen twice to be gone, and says why', async () => {
    const [lost, kept] = [await enqueue('lost'), await enqueue('kept')];
    rides.say = goneAre('lost');
    await graceIsOver();
    expect(await sweep()).toMatchObject({ state: 'done', seen: 2, removed: 0, kept: 2 });
    await graceIsOver();
    const record = await sweep();
    expect(record).toMatchObject({ state: 'done', seen: 2, removed: 1, jobs: 1, kept: 1, unknown: 0 });
    expect(await book.lines(record.sweepId, 0)).toEqual({
      lines: [{ what: 'ride:lost', why: expect.stringMatching(/^gone since 20/) }],
      next: null,
    });
    expect(await app.context.get(JobReader).read(lost)).toMatchObject({
      state: 'removed',
      error: expect.stringMatching(/^orphan by janitor: gone since .* \(it was waiting\)$/),
    });
    expect(await app.context.get(JobReader).read(kept)).toMatchObject({ state: 'waiting' });
    // It is gone, not closed: should it come back, it may have jobs.
    await enqueue('lost');
  });

  const LIARS: [string, Resolve, string | RegExp][] = [
    ['nothing', () => new Map(), /./],
    ['no map', () => ({ a: 'gone' }), /./],
    ['with an error', () => Promise.reject(new Error('The database is away.')), /database is away/],
    ['words that nobody knows', all('Gone'), /./],
    ['never', () => new Promise(() => undefined), /within/],
    ['about others', () => new Map([['x', 'gone']]), /./],
    ['about all but one', (ids) => gone(ids.slice(1)), /answered for \d of \d/],
    [
      'about half of them, and others',
      (ids) => new Map([...ids.slice(0, 1).map((id) => [id, 'gone'] as const), ['x', 'gone']]),
      /./,
    ],
  ];
  it.each(LIARS)('removes nothing when the resolver answers %s', async (_, say, why) => {
    for (const id of ['a', 'b', 'c']) await enqueue(id);
    rides.say = say;
    const record = await sweepTwice();
    expect(record).toMatchObject({
      state: 'done',
      seen: 3,
      removed: 0,
      unknown: 3,
      why: expect.stringMatching(why),
    });
    expect(app.facts).toContainEqual(expect.objectContaining({ event: 'resolver.failed', type: 'ride' }));
    expect(await jobsOf('a')).toBe(1);
  });

  it('removes nothing when one that must live is said to be gone', async () => {
    Object.assign(rides, { canaries: { alive: 'canary', gone: 'ghost' } });
    for (const id of ['a', 'b', 'c']) await enqueue(id);
    rides.say = gone;
    expect(await sweepTwice()).toMatchObject({
      removed: 0,
      unknown: 3,
      why: expect.stringMatching(/canar/i),
    });
    expect(rides.asked.at(-1)).toEqual(expect.arrayContaining(['a', 'b', 'c', 'canary', 'ghost']));
  });

  it('trips when all are said to be gone, stays so, and obeys who forces it', async () => {
    await Promise.all(Array.from({ length: 21 }, (_, i) => enqueue(`r${i}`)));
    rides.say = gone;
    expect(await sweepTwice()).toMatchObject({
      state: 'tripped',
      removed: 0,
      why: expect.stringContaining('21 of 21'),
    });
    expect(await book.trips()).toMatchObject({ orphans: { why: expect.stringContaining('21 of 21') } });
    expect(app.facts.at(-1)).toMatchObject({ event: 'sweep.tripped', removed: 0 });

    rides.say = goneAre('r0');
    expect(await sweep()).toMatchObject({ state: 'tripped', removed: 0 });
    expect(await sweep({ dryRun: true, force: true })).toMatchObject({ state: 'done', removed: 1 });
    expect(await jobsOf('r0')).toBe(1);
    expect(await sweep({ force: true })).toMatchObject({ state: 'done', removed: 1 });
    expect(await book.trips()).toEqual({});
    expect(await jobsOf('r0')).toBe(0);
    expect(await jobsOf('r1')).toBe(1);
  });

  it('asks once more before it trips, and removes nothing meanwhile', async () => {
    await Promise.all(Array.from({ length: 22 }, (_, i) => enqueue(`r${i}`)));
    rides.say = goneAre('r0');
    await graceIsOver();
    await sweep();
    rides.say = gone;
    await graceIsOver();
    expect(await sweep()).toMatchObject({
      state: 'done',
      removed: 0,
      kept: 21,
      why: expect.stringMatching(/^22 of 22 .* Nothing is removed before they were asked about once more\.$/),
    });
    expect(await book.trips()).toEqual({});
    rides.say = goneAre('r0', 'r1');
    await graceIsOver();
    expect(await sweep()).toMatchObject({ state: 'done', removed: 2 });
  });

  it('stays tripped when it is forced and nobody is to go yet', async () => {
    await Promise.all(Array.from({ length: 21 }, (_, i) => enqueue(`r${i}`)));
    rides.say = gone;
    await sweepTwice();
    rides.say = alive;
    await sweep();
    rides.say = gone;
    expect(await sweep({ force: true })).toMatchObject({
      state: 'done',
      removed: 0,
      why: '21 are said to be gone for the first time, and stay until that is said again, OWNER_GRACE later.',
    });
    expect(Object.keys(await book.trips())).toEqual(['orphans']);
    await graceIsOver();
    expect(await sweep({ force: true })).toMatchObject({ state: 'done', removed: 21 });
    expect(await book.trips()).toEqual({});
  });

  it('that is forced when nobody is gone any more is tripped no longer', async () => {
    await Promise.all(Array.from({ length: 21 }, (_, i) => enqueue(`r${i}`)));
    rides.say = gone;
    await sweepTwice();
    rides.say = alive;
    expect(await sweep({ force: true })).toMatchObject({ state: 'done', removed: 0 });
    expect(await book.trips()).toEqual({});
  });

  it('ends twenty at once, however few there are', async () => {
    await Promise.all(Array.from({ length: 20 }, (_, i) => enqueue(`r${i}`)));
    rides.say = gone;
    expect(await sweepTwice()).toMatchObject({ state: 'done', removed: 20, jobs: 20 });
  });

  it('takes an answer back: gone, alive and gone again is gone once', async () => {
    await enqueue('a');
    for (const say of [gone, alive, gone]) {
      rides.say = say;
      await graceIsOver();
      expect(await sweep()).toMatchObject({ removed: 0 });
    }
    expect(await jobsOf('a')).toBe(1);
  });

  it('takes no error for an answer: gone, unknown and gone again is gone once', async () => {
    await enqueue('a');
    for (const say of [gone, all('unknown'), gone]) {
      rides.say = say;
      await graceIsOver();
      expect(await sweep()).toMatchObject({ removed: 0 });
    }
    expect(await jobsOf('a')).toBe(1);
  });

  it('trips by those of whom something is known: the others do not make them fewer', async () => {
    await Promise.all(Array.from({ length: 121 }, (_, i) => enqueue(`r${i}`)));
    rides.say = (ids) => new Map(ids.map((id) => [id, Number(id.slice(1)) < 21 ? 'gone' : 'unknown']));
    expect(await sweepTwice()).toMatchObject({ state: 'tripped', removed: 0, unknown: 100 });
  });

  it('writes nothing of what it asked when another process took it over meanwhile', async () => {
    await enqueue('a');
    rides.say = gone;
    await graceIsOver();
    await sweep();
    await graceIsOver();
    rides.say = async (ids) => {
      await app.redis.set(`${app.prefix}:{sweeps}:lock:orphans`, '999|another');
      return gone(ids);
    };
    const { sweepId, ...record } = await sweep();
    await app.redis.del(`${app.prefix}:{sweeps}:lock:orphans`);
    expect(record).toMatchObject({ state: 'stopped', removed: 0 });
    expect(await app.redis.exists(`${app.prefix}:{sweeps}:${sweepId}:doomed`)).toBe(0);
    await app.redis.del(`${app.prefix}:{sweeps}:at`);
  });

  it('does not remember what one has seen who was overtaken: the other has seen it otherwise', async () => {
    const sightings = app.context.get(Sightings);
    const seen = new Map([['ride:a', { epoch: '1', counter: '1', since: 1 }]]);
    await sightings.write(['ride:a'], new Map(), 2);
    await expect(sightings.write(['ride:a'], seen, 1)).rejects.toThrow('took it over');
    expect(await sightings.read(['ride:a'])).toEqual(new Map());
    await sightings.write(['ride:a'], seen, 2);
    expect(await sightings.read(['ride:a'])).toEqual(seen);
    await sightings.write(['ride:a'], new Map(), 2);
  });

  it('asks anew when it is gone on with long after it was judged', async () => {
    const orphans = app.context.get(OrphanSweep);
    const now = await app.context.get(Store).now();
    const signal = new AbortController().signal;
    const turn = (agoMs: number): Promise<Page> => {
      const position = writePosition({ phase: 'remove', cursor: '0', judgedAt: now - agoMs });
      const round = { sweepId: 'sweep-x', dryRun: false, force: false, position, fence: 1, signal };
      return orphans.sweepOnce(10, round);
    };
    expect(JSON.parse((await turn(9 * 60_000)).position!)).toMatchObject({ phase: 'foreign' });
    expect(JSON.parse((await turn(11 * 60_000)).position!)).toEqual({ phase: 'ask', tallies: {} });
  });

  /** A page of a sweep of its own, as a janitor does it that has the lock. */
  async function turnPage(position: string | undefined): Promise<Page> {
    await app.redis.set(`${app.prefix}:{sweeps}:lock:orphans`, '1|one', 'PX', 10_000);
    const signal = new AbortController().signal;
    const round = { sweepId: 'sweep-x', dryRun: false, force: false, position, fence: 1, signal };
    return app.context.get(OrphanSweep).sweepOnce(10, round);
  }

  it('ends nobody for what a page said that is done again and says otherwise', async () => {
    for (const id of ['a', 'b']) await enqueue(id);
    rides.say = gone;
    await graceIsOver();
    await turnPage(undefined);
    await graceIsOver();
    // Its janitor dies before it can write down that it has done this page.
    expect(JSON.parse((await turnPage(undefined)).position!)).toMatchObject({ phase: 'remove' });
    rides.say = goneAre('a');
    const { position } = await turnPage(undefined);
    const { dooms } = await app.context.get(Doomed).page('sweep-x', '0', 10);
    expect(dooms.map(({ owner: name }) => name)).toEqual(['ride:a']);
    expect(await turnPage(position!)).toMatchObject({ removed: 1 });
    expect([await jobsOf('a'), await jobsOf('b')]).toEqual([0, 1]);
    expect(await app.redis.exists(`${app.prefix}:{sweeps}:sweep-x:doomed`)).toBe(0);
    await app.redis.del(`${app.prefix}:{sweeps}:lock:orphans`);
  });

  it('asks once more about those of whom it was told long ago, when it is gone on with', async () => {
    for (const id of ['lost', 'back', 'unheard', 'young']) await enqueue(id);
    const now = await app.context.get(Store).now();
    const names = ['lost', 'back', 'unheard', 'young'].map((id) => `ride:${id}`);
    await turnPage(undefined);
    const looks = await app.context.get(OwnerLooks).lookAll(names, 4);
    const dooms = looks.map(({ owner: name, epoch, counter }) => ({
      owner: name,
      epoch,
      counter,
      goneSince: 1,
      askedAt: now - (name === 'ride:young' ? 9 : 11) * 60_000,
    }));
    await app.context.get(Doomed).write({ sweepId: 'sweep-x', fence: 1 }, names, dooms);
    rides.asked = [];
    rides.say = () => new Map(Object.entries({ lost: 'gone', back: 'alive', unheard: 'unknown' }));
    const position = writePosition({ phase: 'remove', cursor: '0', judgedAt: now });
    expect(await turnPage(position)).toMatchObject({ removed: 2, kept: 1, unknown: 1 });
    expect(rides.asked.map((ids) => ids.toSorted())).toEqual([['back', 'lost', 'unheard']]);
    expect([await jobsOf('lost'), await jobsOf('young')]).toEqual([0, 0]);
    expect([await jobsOf('back'), await jobsOf('unheard')]).toEqual([1, 1]);
    await app.redis.del(`${app.prefix}:{sweeps}:lock:orphans`);
  });

  it('does not ask about an owner that was wanted lately', async () => {
    await app.stop();
    app = await start({ ownerGraceMs: 60_000 });
    sweeper = app.context.get(Sweeper);
    await enqueue('young');
    rides.say = gone;
    expect(await sweep()).toMatchObject({ seen: 1, kept: 1 });
    expect(rides.asked).toEqual([]);
  });

  it('keeps an owner for which something was enqueued between its sightings', async () => {
    await enqueue('a');
    rides.say = gone;
    await graceIsOver();
    await sweep();
    await enqueue('a');
    await graceIsOver();
    expect(await sweep()).toMatchObject({ removed: 0, kept: 1 });
    expect(await jobsOf('a')).toBe(2);
  });

  it('keeps an owner for which something is enqueued after it was found to be gone', async () => {
    await enqueue('a');
    rides.say = gone;
    await graceIsOver();
    await sweep();
    await graceIsOver();
    // Between the answer and the removal.
    const touch = app.context.get(Canceller);
    const cancelOrphan = touch.cancelOrphan.bind(touch);
    touch.cancelOrphan = async (...args) => {
      await enqueue('a');
      return cancelOrphan(...args);
    };
    expect(await sweep()).toMatchObject({ removed: 0, kept: 1 });
    expect(await jobsOf('a')).toBe(2);
  });

  it('leaves owners alone of whom nobody knows', async () => {
    await enqueue('1', 'lorry');
    await enqueue('a');
    rides.say = alive;
    expect(await sweepTwice()).toMatchObject({ seen: 2, kept: 2 });
    expect(rides.asked.flat()).not.toContain('1');
    const missing = app.facts.filter(({ event }) => event === 'resolver.missing');
    expect(missing).toMatchObject([
      { type: 'lorry', why: expect.stringContaining("@ResolvesOwners('lorry')") as string },
    ]);
  });

  it('without anybody who knows says so, and keeps the list of owners short', async () => {
    await app.stop();
    app = await LifecycleApp.start([call], [], undefined, inject('storeUrl'), undefined, {
      worker: undefined,
    } as never);
    sweeper = app.context.get(Sweeper);
    await enqueue('a');
    await app.context.get(Canceller).cancel(owner('ride', 'a'), { reason: 'off' });
    const listed = (): Promise<number> => app.context.get(OwnerDirectory).size();
    await until(async () => (await listed()) === 1, 'it is listed');
    // As if it had had no job for long.
    await app.redis.hset(recordOf(app.prefix, 'ride:a'), 'l', '1');
    expect(await sweep({ dryRun: true })).toMatchObject({ state: 'done', seen: 0 });
    expect(await listed()).toBe(1);
    expect(await sweep()).toMatchObject({ state: 'done', why: 'Nobody says which owners are gone.' });
    expect(await listed()).toBe(0);
  });

  it('asks five hundred at a time', async () => {
    await Promise.all(Array.from({ length: 1_001 }, (_, i) => enqueue(`r${i}`)));
    await graceIsOver();
    expect(await sweep()).toMatchObject({ seen: 1_001, kept: 1_001 });
    expect(rides.asked.map(({ length }) => length).toSorted((a, b) => a - b)).toEqual([1, 500, 500]);
  });

  it('says in a dry run what would go, and changes nothing', async () => {
    await enqueue('a');
    rides.say = gone;
    await graceIsOver();
    const first = await sweep({ dryRun: true });
    expect(first).toMatchObject({ state: 'done', removed: 0, kept: 1 });
    expect((await book.lines(first.sweepId, 0)).lines).toEqual([
      { what: 'ride:a', why: expect.stringContaining('seen once') },
    ]);
    await sweep();
    await graceIsOver();
    const second = await sweep({ dryRun: true });
    expect(second).toMatchObject({ state: 'done', removed: 1 });
    expect(await jobsOf('a')).toBe(1);
  });
});
