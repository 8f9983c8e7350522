import fc from 'fast-check';
import { Redis } from 'ioredis';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { ScriptRunner } from '../../../../test/protocol/script-runner.js';
import { sendingTwice } from '../../../../test/protocol/sent-twice.js';
import { slotLives, takeAs } from '../../../../test/protocol/slot.property.js';
import { runScript } from '../scripts.js';

const WAITERS = 10_000;
const MOST_AT_ONCE = 100;

describe('the script of slots', () => {
  let redis: Redis;
  let run: ScriptRunner;

  beforeAll(() => {
    redis = new Redis(inject('storeUrl'));
    run = (name, keys, args) => runScript(redis, name, keys, args);
  });

  afterAll(() => redis.quit());

  it('never has more holders than slots, and serves who came first', async () => {
    await fc.assert(
      fc.asyncProperty(slotLives, async (life) => {
        expect(await takeAs(run, redis, life)).toBeUndefined();
      }),
      { numRuns: 300 },
    );
  });

  it('says the same word and changes nothing when it is sent twice', async () => {
    await fc.assert(
      fc.asyncProperty(slotLives, async (life) => {
        expect(await takeAs(sendingTwice(run, redis), redis, life)).toBeUndefined();
      }),
      { numRuns: 50 },
    );
  });

  it('serves ten thousand in their order when the limit is raised, a part at a time', async () => {
    const key = `protocol:{slot:${randomUUID()}}`;
    const names = Array.from({ length: WAITERS }, (_, i) => `job-${i}`);
    const ask = async (act: string, limit: number, jobs: readonly string[]): Promise<string[][]> => {
      const keys = jobs.map(() => key);
      const args = jobs.flatMap((job) => [act, job, 'run', limit, 3_600_000, Number(job.slice(4))]);
      return (await run('take', keys, ['', ...args])) as string[][];
    };
    try {
      expect(await ask('take', 1, ['job-0'])).toEqual([['taken', '']]);
      for (let i = 1; i < WAITERS; i += 1_000) await ask('stand', 1, names.slice(i, i + 1_000));
      // Who stands first is not sent away, though the call has granted as many as it may before.
      const answers = await ask('take', WAITERS, [names[500]!, names[101]!]);
      expect(answers.map(([word]) => word)).toEqual(['wait', 'taken']);

      const came: string[] = ['job-0', names[101]!];
      let woken = answers[0]!.slice(3);
      while (woken.length > 0) {
        const taken = await ask('take', WAITERS, woken);
        expect(taken.filter(([word]) => word !== 'taken')).toEqual([]);
        came.push(...woken);
        const next = taken.flatMap(([, , ...others]) => others);
        expect(next.length).toBeLessThan(MOST_AT_ONCE + woken.length);
        woken = next;
      }
      expect(came.toSorted((a, b) => Number(a.slice(4)) - Number(b.slice(4)))).toEqual(names);
    } finally {
      await redis.unlink(key, `${key}:waiters`);
    }
  });
});
