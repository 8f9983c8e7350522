import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { harmOf } from '../../../../test/protocol/harm.js';
import { storeWithMutant, type Mutant, type ScriptRunner } from '../../../../test/protocol/script-runner.js';
import { SITUATIONS } from '../../../../test/protocol/situations.js';
import { runScript } from '../scripts.js';

const MUTANTS: readonly Mutant[] = [
  {
    name: 'begin does not write the runs first',
    script: 'begin',
    text: "redis.call('ZADD', runs, now + lease",
    instead: "redis.call('HSET', record, 'n', whole(newest + 1)) redis.call('ZADD', runs, now + lease",
  },
  {
    name: 'end does not look at the results first',
    script: 'end',
    text: "redis.call('HEXISTS', record .. ':done', job) == 1",
    instead: 'true',
  },
  {
    name: 'the arguments are not counted',
    script: 'reserve',
    text: 'if #ARGV ~= first - 1 + #KEYS * width then',
    instead: 'if false then',
  },
  {
    name: 'a length is not checked',
    script: 'end',
    text: 'number(ARGV[2])',
    instead: 'ARGV[2]',
  },
];

describe('a script that fails', () => {
  let redis: Redis;
  let run: ScriptRunner;

  beforeAll(() => {
    redis = new Redis(inject('storeUrl'));
    run = (name, keys, args) => runScript(redis, name, keys, args);
  });

  afterAll(() => redis.quit());

  it.each(SITUATIONS)('has written nothing: $script, $name', async (situation) => {
    expect(await harmOf(run, redis, situation)).toBeUndefined();
  });

  it.each(MUTANTS)('is seen to have written: $name', async (mutant) => {
    const mutated = storeWithMutant(redis, mutant);
    const runMutant: ScriptRunner = (name, keys, args) =>
      runScript(name === mutant.script ? mutated : redis, name, keys, args);
    const seen: (string | undefined)[] = [];
    for (const situation of SITUATIONS) {
      if (situation.script === mutant.script) seen.push(await harmOf(runMutant, redis, situation));
    }
    expect(seen.filter((one) => one?.startsWith('F36: '))).not.toEqual([]);
  });
});
