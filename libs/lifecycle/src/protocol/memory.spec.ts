import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  storeWithMutant,
  type ScriptName,
  type ScriptRunner,
} from '../../../../test/protocol/script-runner.js';
import { SITUATIONS } from '../../../../test/protocol/situations.js';
import { TestStore } from '../../../../test/support/store.js';
import { runScript } from '../scripts.js';

describe('a store that has no room', () => {
  let server: TestStore;
  let redis: Redis;
  let run: ScriptRunner;

  beforeAll(async () => {
    server = await TestStore.start('--maxmemory-policy', 'noeviction');
    redis = new Redis(server.url);
    run = (name, keys, args) => runScript(redis, name, keys, args);
  });

  afterAll(async () => {
    redis.disconnect();
    await server.stop();
  });

  it.each(SITUATIONS.filter(isAllowed))(
    'answers as one that has: $script, $name',
    async ({ script, args, prepare }) => {
      const answers: unknown[] = [];
      const refusals: string[] = [];
      for (const [key, maxmemory] of Object.entries({ roomy: 0, full: 1 })) {
        await redis.config('SET', 'maxmemory', 0);
        await redis.flushall();
        await prepare(run, key);
        await redis.script('FLUSH');
        await redis.config('SET', 'maxmemory', maxmemory);
        answers.push(await run(script, [key], args));
        refusals.push(await redis.set('name', 'ada').catch((error: Error) => error.message.slice(0, 3)));
      }
      expect({ refusals, full: answers[1] }).toEqual({ refusals: ['OK', 'OOM'], full: answers[0] });
    },
  );
  it('takes no new job, and writes nothing of it', async () => {
    await redis.config('SET', 'maxmemory', 0);
    await redis.flushall();
    await redis.config('SET', 'maxmemory', 1);
    const { args } = SITUATIONS.find(({ script }) => script === 'reserve')!;
    await expect(run('reserve', ['full'], args)).rejects.toThrow(/^OOM/);
    expect(await redis.dbsize()).toBe(0);
  });

  const scripts = [...new Set(SITUATIONS.filter(isAllowed).map(({ script }) => script))];
  it.each(scripts)('refuses %s without its flag', async (script: ScriptName) => {
    const { args } = SITUATIONS.find((situation) => situation.script === script)!;
    const mutant = { name: 'no flag', script, text: ' flags=allow-oom', instead: '' };
    await redis.config('SET', 'maxmemory', 1);
    const answer = runScript(storeWithMutant(redis, mutant), script, ['full'], args);
    await expect(answer).rejects.toThrow(/^OOM/);
  });
});

const FILLING: readonly ScriptName[] = ['reserve', 'moor', 'plan'];

/** What drains a full store must work on it; what fills it must not. */
function isAllowed({ script }: { script: ScriptName }): boolean {
  return !FILLING.includes(script);
}
