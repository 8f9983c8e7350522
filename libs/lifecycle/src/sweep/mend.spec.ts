import { Redis } from 'ioredis';
import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { storeWithMutant, type Mutant } from '../../../../test/protocol/script-runner.js';
import { runScript } from '../scripts.js';

const NOW = 1_900_000_000_000;
const EPOCH = `${NOW}000`;
const PLACE = `${EPOCH}|${NOW}|1|t`;
const KEEP_MS = 60_000;

type Thing = readonly [sort: string, name: string, seen: string];

/** What there is, what is told to go, and whether it does. */
const CASES: readonly (readonly [what: string, thing: Thing, goes: boolean])[] = [
  ['a place as it was seen', ['place', 'idle', PLACE], true],
  ['a place that has changed since', ['place', 'idle', `${EPOCH}|1|1|t`], false],
  ['a place that a run holds', ['place', 'held', PLACE], false],
  ['a key whose job has no place', ['dedup', 'stray', `${EPOCH}|gone`], true],
  ['a key of an older epoch', ['dedup', 'old', '1|idle'], true],
  ['a key whose job has its place', ['dedup', 'good', `${EPOCH}|idle`], false],
  ['a key that is another’s by now', ['dedup', 'good', `${EPOCH}|gone`], false],
  ['a payload whose job is gone', ['late', 'gone', ''], true],
  ['a payload whose job is there', ['late', 'idle', ''], false],
  ['a result whose job is gone', ['done', 'gone', ''], true],
  ['a result whose job is there', ['done', 'idle', ''], false],
  ['a run whose job is gone', ['run', 'gone|t', ''], true],
  ['a run that another has overtaken', ['run', 'idle|before', ''], true],
  ['the newest run of a job', ['run', 'idle|t', ''], false],
  ['a run that holds its lease', ['run', 'gone|lives', ''], false],
];

const MUTANTS: readonly Mutant[] = [
  ['it does not compare the place', 'if placeOf(job) ~= seen or ', 'if '],
  [
    'it does not look at the lease',
    "tonumber(redis.call('ZSCORE', runs, run) or 0) > now then",
    'false then',
  ],
  ['it does not compare the key', "redis.call('HGET', dedup, key) ~= seen or ", ''],
  ['it does not look at the epoch', 'entryEpoch == epoch and placeOf(job)', 'placeOf(job)'],
  ['it does not look for the key’s job', 'entryEpoch == epoch and placeOf(job)', 'false'],
  [
    'it takes any payload',
    "placeOf(job) and 0 or redis.call('HDEL', late, job)",
    "redis.call('HDEL', late, job)",
  ],
  [
    'it takes any result',
    "placeOf(job) and 0 or redis.call('HDEL', done, job)",
    "redis.call('HDEL', done, job)",
  ],
  ['it takes a run that lives', 'or tonumber(heldUntil) > now', ''],
  ['it takes the newest run', 'or holder == token', ''],
].map(([name, text, instead]) => ({ name, script: 'mend', text, instead }) as Mutant);

describe('the script that mends', () => {
  const key = `protocol:{${randomUUID()}}`;
  let redis: Redis;
  beforeAll(() => {
    redis = new Redis(inject('storeUrl'));
  });
  afterAll(() => redis.quit());
  beforeEach(() => populate());
  afterEach(() => clear());

  async function populate(): Promise<void> {
    await redis.hset(key, {
      e: EPOCH,
      o: 'trip:42',
      n: '1',
      s: 'open',
      v: '1',
      l: NOW,
      jidle: PLACE,
      jheld: PLACE,
    });
    await redis.hset(`${key}:dedup`, { stray: `${EPOCH}|gone`, old: '1|idle', good: `${EPOCH}|idle` });
    await redis.hset(`${key}:late`, { gone: '1', idle: '1' });
    await redis.hset(`${key}:done`, { gone: '1', idle: '1' });
    const over = ['gone|t', 'idle|before', 'idle|t'].flatMap((run) => [NOW - 1, run]);
    await redis.zadd(`${key}:runs`, ...over, NOW + 1, 'held|t', NOW + 1, 'gone|lives');
  }
  const clear = (): Promise<number> =>
    redis.unlink(key, ...['dedup', 'late', 'done', 'runs'].map((end) => `${key}:${end}`));
  const mend = (store: Redis, thing: Thing): Promise<unknown> =>
    runScript(store, 'mend', [key], [NOW, KEEP_MS, KEEP_MS, ...thing]);

  it.each(CASES)('%s: %s goes: %s', async (_, thing, goes) => {
    expect(await mend(redis, thing)).toBe(goes ? 1 : 0);
    expect(await mend(redis, thing)).toBe(0);
  });

  it('takes with a place what stands beside it, and lets the record of an idle owner expire', async () => {
    await redis.hdel(key, 'jheld');
    await mend(redis, ['place', 'idle', PLACE]);
    expect(await redis.hget(`${key}:late`, 'idle')).toBeNull();
    expect(await redis.hget(`${key}:done`, 'idle')).toBeNull();
    expect(await redis.zscore(`${key}:runs`, 'idle|t')).toBeNull();
    expect(await redis.pttl(key)).toBeGreaterThan(0);
  });

  it('keeps the record of an owner that has jobs', async () => {
    await mend(redis, ['place', 'idle', PLACE]);
    expect(await redis.pttl(key)).toBe(-1);
  });

  it.each(MUTANTS)('is seen to be wrong when $name', async (mutant) => {
    const mutated = storeWithMutant(redis, mutant);
    const wrong: string[] = [];
    for (const [what, thing, goes] of CASES) {
      await clear();
      await populate();
      const answer = await mend(mutated, thing).catch((error: Error) => error.message);
      if (answer !== (goes ? 1 : 0)) wrong.push(what);
    }
    expect(wrong).not.toEqual([]);
  });
});
