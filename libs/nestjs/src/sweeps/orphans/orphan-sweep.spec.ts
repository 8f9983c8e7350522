import '../../register.js';
import type { INestApplicationContext } from '@nestjs/common';
import type { MooredQueue } from '#core';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CoreKit, until } from '../../../../../test/support/core-kit.js';
import { startNestApp } from '../../../../../test/support/nest-app.js';
import {
  MooringModule,
  OwnerResolver,
  SweepBook,
  Sweeper,
  type OwnerLife,
  type SweepRecord,
} from '../../index.js';

/** A service that knows which rides are gone. */
class Rides extends OwnerResolver {
  readonly gone = new Set<string>();
  readonly unknown = new Set<string>();
  readonly asked: string[][] = [];
  onAsked: () => Promise<unknown> | void = () => undefined;

  async resolve(ids: string[]): Promise<ReadonlyMap<string, OwnerLife>> {
    this.asked.push(ids);
    await this.onAsked();
    return new Map(
      ids.map((id) => [id, this.unknown.has(id) ? 'unknown' : this.gone.has(id) ? 'gone' : 'alive']),
    );
  }
}

describe('a sweep of orphans', () => {
  let kit: CoreKit;
  let rides: Rides;
  let queue: MooredQueue;
  let app: INestApplicationContext;

  beforeEach(async () => {
    kit = new CoreKit();
    rides = new Rides();
    queue = kit.queue();
    app = await start();
  });

  afterEach(async () => {
    await app.close();
    await kit.stop();
  });

  function start(): Promise<INestApplicationContext> {
    const sweeps = { timers: false, ownerGrace: 1, lock: '200ms' };
    const resolvers = new Map([['ride', rides]]);
    return startNestApp({ imports: [MooringModule.forRoot({ ...kit.place, sweeps, resolvers })] });
  }

  const add = (...ids: string[]): Promise<unknown> =>
    queue.addBulk(
      ids.map((id) => ({ name: 'offer', data: {}, opts: { owners: [`ride:${id}`], delay: 60_000 } })),
    );
  const many = (count: number): string[] => Array.from({ length: count }, (_, i) => `r${i}`);
  const sweep = async (order: { dryRun?: boolean; force?: boolean } = {}): Promise<SweepRecord> => {
    const enqueuedBy = await storeNow();
    await until(async () => (await storeNow()) > enqueuedBy + 1, 'the grace has passed');
    return (await app.get(Sweeper).sweep('orphans', order))!;
  };
  const storeNow = async (): Promise<number> => app.get(Sweeper)['store'].now();
  const countOf = async (id: string): Promise<number> => (await kit.owners.get(`ride:${id}`))?.count ?? 0;

  it('cancels the jobs of an owner that was gone twice, leaves the owner open, and records why', async () => {
    await add('1', '1', '2');
    rides.gone.add('1');

    expect(await sweep()).toMatchObject({ state: 'done', seen: 2, kept: 2, removed: 0 });
    const done = await sweep();

    expect(done).toMatchObject({ state: 'done', seen: 2, kept: 1, removed: 1, jobs: 2 });
    expect((await app.get(SweepBook).lines(done.sweepId, 0)).lines).toEqual([
      { what: 'ride:1', why: expect.stringMatching(/^gone since 20/) },
    ]);
    expect([await countOf('1'), await countOf('2')]).toEqual([0, 1]);
    await add('1');
    expect(await sweep()).toMatchObject({ removed: 0 });
  });

  it.each(['alive', 'unknown'] as const)('counts gone, %s and gone again as gone once', async (life) => {
    await add('1');
    rides.gone.add('1');
    await sweep();
    if (life === 'alive') rides.gone.delete('1');
    else rides.unknown.add('1');
    await sweep();
    rides.gone.add('1');
    rides.unknown.clear();
    expect(await sweep()).toMatchObject({ removed: 0 });
    expect(await sweep()).toMatchObject({ removed: 1 });
  });

  it('keeps an owner that got a job since it was seen gone', async () => {
    await add('1');
    rides.gone.add('1');
    await sweep();
    await add('1');
    expect(await sweep()).toMatchObject({ removed: 0 });
    // The last question before the cancel.
    rides.onAsked = async () => {
      if (rides.asked.length === 4) await add('1');
    };
    expect(await sweep()).toMatchObject({ removed: 0, kept: 1 });
    expect(rides.asked).toHaveLength(4);
    expect(await countOf('1')).toBe(3);
  });

  it('keeps a candidate that is alive again at the last question', async () => {
    await add('1');
    rides.gone.add('1');
    await sweep();
    rides.onAsked = () => void (rides.asked.length === 2 && setImmediate(() => rides.gone.delete('1')));
    expect(await sweep()).toMatchObject({ removed: 0, kept: 1 });
    expect(rides.asked).toHaveLength(3);
  });

  it('does not ask about an owner whose newest job is younger than the grace', async () => {
    await app.close();
    const resolvers = new Map([['ride', rides]]);
    const sweeps = { timers: false, ownerGrace: '1h' };
    app = await startNestApp({ imports: [MooringModule.forRoot({ ...kit.place, sweeps, resolvers })] });
    await add('1');
    expect(await app.get(Sweeper).sweep('orphans')).toMatchObject({ seen: 1, kept: 1 });
    expect(rides.asked).toEqual([]);
  });

  it('skips owners of a type without a resolver, and closed owners', async () => {
    await queue.add('x', {}, { owners: ['ship:1'] });
    expect(await sweep()).toMatchObject({ state: 'done', seen: 0 });
    expect(rides.asked).toEqual([]);
  });

  it('keeps all owners while the resolver fails', async () => {
    await add('1', '2');
    rides.onAsked = () => Promise.reject(new Error('the service is away'));
    for (let i = 0; i < 3; i += 1)
      expect(await sweep()).toMatchObject({ unknown: 2, removed: 0, kept: 0, why: 'the service is away' });
  });

  it('trips when too many owners are gone twice, stays tripped, and obeys force', async () => {
    await add(...many(25));
    for (const id of many(25)) rides.gone.add(id);

    expect(await sweep()).toMatchObject({
      state: 'done',
      why: expect.stringContaining('asked about once more'),
    });
    expect(await sweep()).toMatchObject({
      state: 'tripped',
      why: expect.stringContaining('25 of 25 owners of type "ride"'),
    });
    rides.gone.delete('r0');
    expect(await sweep()).toMatchObject({
      state: 'tripped',
      why: expect.stringMatching(/^Since 20/),
      removed: 0,
    });
    rides.gone.add('r0');
    await sweep();
    expect(await sweep({ dryRun: true, force: true })).toMatchObject({ state: 'done', removed: 25 });
    expect(await app.get(SweepBook).trips()).toMatchObject({
      orphans: { why: expect.stringContaining('25 of 25') },
    });

    expect(await sweep({ force: true })).toMatchObject({ state: 'done', removed: 25, jobs: 25 });
    expect(await app.get(SweepBook).trips()).toEqual({});
    await kit.nothingLeft();
  });

  it('stays tripped when it is forced and every owner is gone for the first time', async () => {
    await add(...many(25));
    await app.get(SweepBook).trip('orphans', { at: 'x', sweepId: 's', why: 'w' }, (await lockOf())!);
    for (const id of many(25)) rides.gone.add(id);
    expect(await sweep({ force: true })).toMatchObject({
      removed: 0,
      why: expect.stringContaining('25 are gone for the first'),
    });
    expect(await app.get(SweepBook).trips()).toHaveProperty('orphans');
    rides.gone.clear();
    await sweep({ force: true });
    expect(await app.get(SweepBook).trips()).toEqual({});
  });

  it('may remove up to twenty owners, even if these are all', async () => {
    await add(...many(20));
    for (const id of many(20)) rides.gone.add(id);
    await sweep();
    expect(await sweep()).toMatchObject({ removed: 20 });
  });

  it('lists in a dry run what it would remove, and changes nothing', async () => {
    await add('1', '2');
    rides.gone.add('1');
    await sweep();
    rides.gone.add('2');
    const keys = await kit.redis.hgetall((await kit.redis.keys(`${kit.prefix}~sweeps~gone~*`))[0]!);
    const record = await sweep({ dryRun: true });
    expect(record).toMatchObject({ removed: 1, kept: 1, dryRun: true });
    expect(
      (await app.get(SweepBook).lines(record.sweepId, 0)).lines.map(({ what }) => what).toSorted(),
    ).toEqual(['ride:1', 'ride:2']);
    expect(await kit.redis.hgetall((await kit.redis.keys(`${kit.prefix}~sweeps~gone~*`))[0]!)).toEqual(keys);
    expect(await countOf('1')).toBe(1);
  });

  it('asks about more owners than fit on a page, at most 500 at once, and each once', async () => {
    const ids = many(1_203);
    await add(...ids);
    expect(await sweep()).toMatchObject({ seen: 1_203, kept: 1_203 });
    expect(Math.max(...rides.asked.map(({ length }) => length))).toBeLessThanOrEqual(500);
    expect(rides.asked.flat().toSorted()).toEqual(ids.toSorted());
  });

  it('discards its answers when another process has taken over in the meantime', async () => {
    await add('1');
    rides.gone.add('1');
    rides.onAsked = () => kit.redis.hincrby(`${kit.prefix}~sweeps~lock~orphans`, 'fence', 1);
    expect(await sweep()).toMatchObject({ state: 'stopped' });
    expect(await kit.redis.keys(`${kit.prefix}~sweeps~gone*`)).toEqual([]);
  });

  async function lockOf() {
    return app.get(Sweeper)['store'].take('test', 1);
  }
});
