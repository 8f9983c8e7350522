import { Redis } from 'ioredis';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { OwnerCalls } from '../../../../test/protocol/owner.calls.js';
import { storeWithMutant, type Mutant, type ScriptRunner } from '../../../../test/protocol/script-runner.js';
import { runScript } from '../scripts.js';

const NOW = 1_900_000_000_000;
const EPOCH = `${NOW}000`;
const LIFE_MS = 50;

/** What the scripts of the expiry answer, and what they leave, case by case. */
type Case = (run: ScriptRunner, redis: Redis, key: string) => Promise<unknown>;

const expire = async (
  run: ScriptRunner,
  key: string,
  { now = NOW + LIFE_MS + 1, epoch = EPOCH } = {},
): Promise<unknown> => ((await run('expire', [key], [now, 'job', epoch, LIFE_MS, 'k'])) as unknown[])[0];

async function owning(run: ScriptRunner, key: string, strategy: 'skip' | 'coalesce' = 'skip') {
  const owner = new OwnerCalls(run, key);
  await owner.reserve(NOW, { job: 'job', strategy, key: 'k', payload: 'p' });
  return owner;
}
const begun = async (run: ScriptRunner, key: string): Promise<OwnerCalls> => {
  const owner = await owning(run, key);
  await owner.begin(NOW, { job: 'job', token: 't', epoch: EPOCH, life: '', key: 'k' });
  return owner;
};
const twinOf = (redis: Redis, key: string): Promise<string | null> => redis.hget(`${key}:dedup`, 'k');

const CASES: readonly (readonly [name: string, what: Case, answer: unknown])[] = [
  [
    'a job that is too late has expired, and its key is free',
    async (run, redis, key) => {
      await owning(run, key);
      return [await expire(run, key), await twinOf(redis, key)];
    },
    [['expired'], null],
  ],
  [
    'one that is just in time has not',
    async (run, redis, key) => {
      await owning(run, key);
      return [await expire(run, key, { now: NOW + LIFE_MS }), await twinOf(redis, key)];
    },
    [['later', String(NOW + LIFE_MS)], `${EPOCH}|job`],
  ],
  [
    'one to which a trigger was left meanwhile has its time anew',
    async (run, _redis, key) => {
      const owner = await owning(run, key, 'coalesce');
      await owner.reserve(NOW + 9, { job: 'other', strategy: 'coalesce', key: 'k', payload: 'p' });
      return expire(run, key);
    },
    ['later', String(NOW + 9 + LIFE_MS)],
  ],
  [
    'a trigger after it makes a job of its own',
    async (run, _redis, key) => {
      const owner = await owning(run, key);
      await expire(run, key);
      const answer = await owner.reserve(NOW + 60, { job: 'other', strategy: 'skip', key: 'k', payload: '' });
      return answer[0];
    },
    'new',
  ],
  [
    'the key of a newer job is not freed',
    async (run, redis, key) => {
      const owner = await begun(run, key);
      await owner.reserve(NOW, { job: 'other', strategy: 'skip', key: 'k', payload: '' });
      return [await expire(run, key, { now: NOW + 99_999_999 }), await twinOf(redis, key)];
    },
    [['expired'], `${EPOCH}|other`],
  ],
  [
    'a run that lives keeps its job',
    async (run, _redis, key) => {
      await begun(run, key);
      return expire(run, key);
    },
    ['busy'],
  ],
  [
    'what was done in time is done',
    async (run, _redis, key) => {
      const owner = await begun(run, key);
      await owner.commit({ job: 'job', token: 't', epoch: EPOCH, fence: '1', result: 'r' });
      return expire(run, key, { now: NOW + 99_999_999 });
    },
    ['busy'],
  ],
  ['a job without a place is gone', (run, _redis, key) => expire(run, key), ['gone']],
  [
    'a cancelled owner’s job is the cancel’s',
    async (run, _redis, key) => {
      await (await owning(run, key)).cancel(NOW, { cancelId: 'c0' });
      return expire(run, key);
    },
    ['gone'],
  ],
  [
    'a cancelled job is the cancel’s',
    async (run, redis, key) => {
      await owning(run, key);
      await redis.hset(key, 'jjob', `0|${NOW}|0|`);
      return expire(run, key);
    },
    ['gone'],
  ],
  [
    'a deadline leaves, or is put off',
    async (run, redis, key) => {
      await redis.zadd(key, 1, 'a', 2, 'b', 3, 'c');
      await run('due', [key], ['a', 1, '', 'b', 2, 9]);
      return redis.zrange(key, '0', '-1', 'WITHSCORES');
    },
    ['c', '3', 'b', '9'],
  ],
  [
    'one that was written anew stays as it is',
    async (run, redis, key) => {
      await redis.zadd(key, 5, 'a', 6, 'b');
      await run('due', [key], ['a', 1, '', 'b', 2, 9, 'c', 3, 9]);
      return redis.zrange(key, '0', '-1', 'WITHSCORES');
    },
    ['a', '5', 'b', '6'],
  ],
];

const MUTANTS: readonly Mutant[] = [
  ['expire does not compare the owner’s epoch', 'expire', 'known[1] ~= epoch or', ''],
  ['expire does not compare the place’s epoch', 'expire', 'or entryEpoch ~= epoch', ''],
  ['expire does not look at the run', 'expire', 'heldUntil > now or isDone', 'isDone'],
  ['expire does not look at the result', 'expire', 'heldUntil > now or isDone', 'heldUntil > now'],
  ['expire is early', 'expire', 'if now <= ', 'if now < '],
  ['expire does not look at the time', 'expire', 'if now <= tonumber(wantedAt) + life then', 'if false then'],
  ['expire leaves the key', 'expire', "if held == epoch .. '|' .. job then", 'if false then'],
  ['expire frees whatever key', 'expire', "if held == epoch .. '|' .. job then", 'if held then'],
  [
    'due does not compare',
    'due',
    "if tonumber(redis.call('ZSCORE', list, entry) or '') == was then",
    'if true then',
  ],
  ['due leaves what is to go', 'due', "redis.call('ZREM', list, entry)", ''],
  ['due does not put off', 'due', "redis.call('ZADD', list, is, entry)", ''],
].map(([name, script, text, instead]) => ({ name, script, text, instead }) as Mutant);

describe('the scripts of the expiry', () => {
  let redis: Redis;
  beforeAll(() => {
    redis = new Redis(inject('storeUrl'));
  });
  afterAll(() => redis.quit());

  async function answerOf(what: Case, run: ScriptRunner): Promise<unknown> {
    const key = `protocol:{${randomUUID()}}`;
    try {
      return await what(run, redis, key).catch((error: Error) => error.message);
    } finally {
      await redis.unlink(
        key,
        ...['runs', 'dedup', 'late', 'done', 'cancels', 'cancel:c0'].map((end) => `${key}:${end}`),
      );
    }
  }

  it.each(CASES)('%s', async (_, what, answer) => {
    expect(await answerOf(what, (name, keys, args) => runScript(redis, name, keys, args))).toEqual(answer);
  });

  it.each(MUTANTS)('are seen to be wrong when $name', async (mutant) => {
    const mutated = storeWithMutant(redis, mutant);
    const run: ScriptRunner = (name, keys, args) =>
      runScript(name === mutant.script ? mutated : redis, name, keys, args);
    const wrong: string[] = [];
    for (const [name, what, answer] of CASES) {
      if (JSON.stringify(await answerOf(what, run)) !== JSON.stringify(answer)) wrong.push(name);
    }
    expect(wrong).not.toEqual([]);
  });
});
