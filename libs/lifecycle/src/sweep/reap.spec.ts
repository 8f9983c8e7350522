import { Redis } from 'ioredis';
import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { OwnerCalls, unlinkOwner } from '../../../../test/protocol/owner.calls.js';
import { storeWithMutant, type Mutant } from '../../../../test/protocol/script-runner.js';
import { runScript } from '../scripts.js';

const NOW = 1_900_000_000_000;
const [HOLD, REST, TRIES] = [100, 1_000, 5];

/** I26, I27: what is being removed gets no place, and what has one is not removed; one removes it at a time. */
describe('the script that marks what is removed', () => {
  let redis: Redis;
  let store: Redis;
  let reserving: Redis;
  let record: string;

  beforeAll(() => {
    redis = new Redis(inject('storeUrl'));
  });
  beforeEach(() => {
    store = redis;
    reserving = redis;
    record = `protocol:{${randomUUID()}}`;
  });
  afterEach(async () => {
    await redis.unlink(`${record}:reap`);
    await unlinkOwner(redis, record);
  });
  afterAll(() => redis.quit());

  const ask = (now: number, act: string, who: string, ms: number, force = 0): Promise<unknown> =>
    runScript(
      store,
      'reap',
      [record],
      [now, act, 'job', who, ms, TRIES, force, act === 'fail' ? 'shut' : ''],
    );
  const mark = (now: number, who: string, force = 0): Promise<unknown> => ask(now, 'mark', who, HOLD, force);
  const fail = (now: number, who: string): Promise<unknown> => ask(now, 'fail', who, REST);
  const done = (who: string): Promise<unknown> => ask(NOW, 'done', who, 0);
  const reserve = (): Promise<string[]> =>
    new OwnerCalls((name, keys, args) => runScript(reserving, name, keys, args), record).reserve(NOW, {
      job: 'job',
      strategy: '',
      key: '',
      payload: '',
    });

  async function hasPlaceAndIsMarked(): Promise<unknown> {
    await reserve();
    return mark(NOW, 'a');
  }
  it('says beforehand what it would answer, and writes nothing', async () => {
    const look = (force = 0): Promise<unknown> => ask(NOW, 'look', '', 0, force);
    expect(await look()).toEqual(['marked']);
    expect(await redis.exists(`${record}:reap`)).toBe(0);
    await mark(NOW, 'a');
    const before = await redis.hgetall(`${record}:reap`);
    expect(await look(1)).toEqual(['wait']);
    expect(await redis.hgetall(`${record}:reap`)).toEqual(before);
    await fail(NOW, 'a');
    expect([await look(), await look(1)]).toEqual([['rests', 'shut'], ['marked']]);
    await redis.unlink(`${record}:reap`);
    await reserve();
    expect(await look()).toEqual(['placed']);
  });

  it('leaves a job that has a place', async () => {
    expect(await hasPlaceAndIsMarked()).toEqual(['placed']);
    expect(await redis.exists(`${record}:reap`)).toBe(0);
  });

  it('keeps a job from its place as long as it is marked', async () => {
    await mark(NOW, 'a');
    expect(await reserve()).toEqual(['reaping']);
    expect(await redis.exists(record)).toBe(0);
    await fail(NOW, 'a');
    expect(await reserve()).toEqual(['reaping']);
    await mark(NOW, 'a', 1);
    await done('a');
    expect((await reserve())[0]).toBe('new');
  });

  async function twoAtATime(): Promise<unknown> {
    await mark(NOW, 'a');
    return mark(NOW + HOLD - 1, 'b');
  }
  it('gives one at a time leave, for as long as it is held', async () => {
    expect(await twoAtATime()).toEqual(['wait']);
    expect(await mark(NOW + HOLD - 1, 'b', 1)).toEqual(['wait']);
    expect(await mark(NOW + HOLD - 1, 'a')).toEqual(['marked']);
    expect(await mark(NOW + HOLD, 'b')).toEqual(['marked']);
    expect([await fail(NOW, 'a'), await done('a')]).toEqual([['lost'], ['lost']]);
    expect(await done('b')).toEqual(['done']);
    expect(await done('b')).toEqual(['done']);
  });

  it('lets one rest that failed, twice as long each time; who forces it does not wait', async () => {
    let now = NOW;
    for (const [failures, rest] of [
      [1, 1],
      [2, 2],
      [3, 4],
      [4, 8],
    ] as const) {
      await mark(now, 'a');
      expect(await fail(now, 'a')).toEqual(['failed', String(failures)]);
      expect(await mark(now + rest * REST - 1, 'b')).toEqual(['rests', 'shut']);
      now += rest * REST;
    }
    expect(await mark(now - 1, 'b', 1)).toEqual(['marked']);
  });

  async function afterAllTries(): Promise<unknown> {
    for (let i = 0; i < TRIES; i += 1) {
      await mark(NOW + i * 1_000_000, 'a');
      await fail(NOW + i * 1_000_000, 'a');
    }
    return mark(NOW * 2, 'b');
  }
  it('leaves one alone that failed five times, until it is forced', async () => {
    expect(await afterAllTries()).toEqual(['quarantined', 'shut']);
    expect(await mark(NOW * 2, 'b', 1)).toEqual(['marked']);
    expect(await fail(NOW * 2, 'b')).toEqual(['failed', '6']);
    expect(await mark(NOW * 3, 'b')).toEqual(['quarantined', 'shut']);
  });

  it('knows why one rests whatever the reason says, and reads a mark without one', async () => {
    await redis.hset(`${record}:reap`, 'job', `${NOW}|1|${NOW + REST}|`);
    expect(await mark(NOW, 'a')).toEqual(['rests', '']);
    await redis.hset(`${record}:reap`, 'job', `${NOW}|1|${NOW + REST}||a|b\nc`);
    expect(await mark(NOW, 'a')).toEqual(['rests', 'a|b\nc']);
  });

  it('is not the same when who reserves does not look', async () => {
    const text = "if redis.call('HEXISTS', record .. ':reap', job) == 1 then";
    reserving = storeWithMutant(redis, { name: 'blind', script: 'reserve', text, instead: 'if false then' });
    await mark(NOW, 'a');
    expect(await reserve()).not.toEqual(['reaping']);
  });

  async function afterOneTry(): Promise<unknown> {
    await mark(NOW, 'a');
    await fail(NOW, 'a');
    return mark(NOW, 'b');
  }

  const MUTANTS: [Mutant, () => Promise<unknown>, ...string[]][] = [
    [
      { name: 'a place is not seen', script: 'reap', text: 'if hasPlace then', instead: 'if false then' },
      hasPlaceAndIsMarked,
      'placed',
    ],
    [
      {
        name: 'a hold is not seen',
        script: 'reap',
        text: "if next > now and (holder ~= '' or not force) then",
        instead: 'if false then',
      },
      twoAtATime,
      'wait',
    ],
    [
      { name: 'failures are not counted', script: 'reap', text: 'whole(tries + 1) .. ', instead: "'0' .. " },
      afterAllTries,
      'quarantined',
      'shut',
    ],
    [
      { name: 'why it failed is not kept', script: 'reap', text: ".. '||' .. ARGV[8]", instead: ".. '||'" },
      afterOneTry,
      'rests',
      'shut',
    ],
  ];
  it.each(MUTANTS)('is not the same when $name', async (mutant, life, ...words) => {
    store = storeWithMutant(redis, mutant);
    expect(await life()).not.toEqual(words);
  });
});
