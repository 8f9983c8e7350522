import {
  Canceller,
  defineKind,
  Enqueuer,
  JobReader,
  owner,
  Removals,
  Sweeper,
  type EnqueueOptions,
  type SweepKind,
} from '#lifecycle';
import { Queue } from 'bullmq';
import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { recordOf } from '../support/cancel-door.js';
import { crashPoints, crashTime, fewestCommands } from '../support/crash-points.js';
import { LifecycleApp } from '../support/lifecycle-app.js';
import { seededRandom } from '../support/random.js';
import { scriptText } from '../support/script-text.js';
import { sweepInProcess } from '../support/sweeper.js';
import { until } from '../support/until.js';

const KINDS: readonly SweepKind[] = ['expiry', 'repair', 'orphans'];
const LOCK_MS = 1_000;
const LONG_AGO_MS = 60_000;
/** Of the commands, so many are died at, from either side. */
const SAMPLED = 20;
const TRIAL_MS = 10_000;
const AT_ONCE = 2;

const work = defineKind({
  name: 'work',
  queue: 'work',
  payload: z.any(),
  ownersOf: ({ data }) => [owner('site', (data as { site: string }).site)],
});

/** What a sweep was at when it died, the next one brings to its end. */
describe('kill -9 of who sweeps', () => {
  const seed = Date.now() % 1_000_000;
  const random = seededRandom(seed);

  it(
    'at any command leaves nothing that the next does not finish',
    async () => {
      const commands = await fewestCommands(async () => (await trial('before:#0'))!);
      console.log(`The sweeps send ${commands} commands; seed ${seed}.`);
      const points = crashPoints(commands, SAMPLED, random);
      const { length: tried } = points;
      let killed = 0;
      const lane = async (): Promise<void> => {
        for (let point = points.shift(); point; point = points.shift()) {
          const answer = await trial(point).catch((error: unknown) => {
            throw new Error(`Killed ${point}, seed ${seed}`, { cause: error });
          });
          if (answer === undefined) killed += 1;
        }
      };
      await Promise.all(Array.from({ length: AT_ONCE }, lane));
      console.log(`Killed ${killed} of ${tried}.`);
      expect(killed).toBeGreaterThan(tried / 2);
    },
    crashTime(SAMPLED * TRIAL_MS),
  );

  /** A store of its own prefix with something for every sweep; answers how many commands it took, if it lived. */
  async function trial(point: string): Promise<number | undefined> {
    const app = await LifecycleApp.start([work], [], undefined, undefined, undefined, {
      sweeps: { lockMs: LOCK_MS },
      worker: undefined,
    } as never);
    try {
      const half = await populate(app);
      const commands = await sweepAndDie(app, point);
      await sweepAll(app);
      await expectWhole(app, half);
      return commands;
    } finally {
      for (const [type, id] of [
        ['trip', '1'],
        ['site', '1'],
      ] as const)
        await app.context.get(Canceller).cancel(owner(type, id), { close: false });
      await app.stop();
    }
  }

  async function sweepAndDie(app: LifecycleApp, point: string): Promise<number | undefined> {
    const { exit, commands } = await sweepInProcess(app, point, KINDS, { SWEEP_LOCK_MS: String(LOCK_MS) });
    expect([exit.code === 0, exit.signal === 'SIGKILL']).toContain(true);
    return commands;
  }

  /** Twice: what one sweep makes stray the next takes away. */
  async function sweepAll(app: LifecycleApp): Promise<void> {
    for (const kind of [...KINDS, ...KINDS])
      await until(async () => {
        const record = await app.context.get(Sweeper).sweep(kind);
        return record?.state === 'done' && record;
      }, `the sweep of ${kind} is done`);
  }

  async function populate(app: LifecycleApp): Promise<Half> {
    const { redis, prefix } = app;
    const record = recordOf(prefix, 'trip:1');
    const enqueue = async (more: Partial<EnqueueOptions>): Promise<string> =>
      (await app.context.get(Enqueuer).enqueue(work, 'p', { owners: [owner('trip', '1')], ...more })).id;
    const reserve = async (strategy: string, key: string, payload: string): Promise<string> => {
      const id = `work-${randomBytes(30).toString('base64').replaceAll(/\W/g, '').slice(0, 20)}`;
      const args = ['', 'trip:1', id, '', strategy, key, payload, ''];
      await redis.eval(scriptText('enqueue/reserve'), 1, record, ...args);
      await age(id);
      return id;
    };
    const age = async (id: string): Promise<void> => {
      const [epoch, at, ...rest] = (await redis.hget(record, `j${id}`))!.split('|');
      await redis.hset(record, `j${id}`, [epoch, Number(at) - LONG_AGO_MS, ...rest].join('|'));
    };
    const kept = await enqueue({});
    const late = await enqueue({ expiresIn: '1ms', owners: [owner('trip', '1'), owner('site', '1')] });
    const replaced = await enqueue({ dedup: { strategy: 'skip', key: 'k' } });
    const [key] = (await redis.hkeys(`${record}:dedup`)) as [string];
    const left = await reserve('replace', key, '"left"');
    await age(replaced);
    const dead = await reserve('', '', '');
    const ghost = await enqueue({ slot: { key: 'driver:7', limit: 1 } });
    await age(ghost);
    await redis.unlink(`{${prefix}}:work:${ghost}`);
    for (const line of await redis.keys(`${prefix}:{slot:*}:waiters`)) await redis.zadd(line, 'XX', 1, ghost);
    await redis.hset(`${record}:late`, 'work-gone', '1');
    await redis.zadd(`${record}:runs`, 1, 'work-gone|t');
    await redis.unlink(await redis.keys(`${prefix}:{owners:*}`));
    const queue = new Queue('work', { connection: redis, prefix: `{${prefix}}` });
    await queue.add('work', { site: '1' }, { jobId: 'theirs' });
    await queue.close();
    return { kept, late, replaced, left, dead, ghost };
  }

  async function expectWhole(app: LifecycleApp, half: Half): Promise<void> {
    const { redis, prefix } = app;
    const record = recordOf(prefix, 'trip:1');
    const placesOf = async (key: string): Promise<string[]> =>
      (await redis.hkeys(key)).filter((field) => field.startsWith('j')).map((field) => field.slice(1));
    const places = await placesOf(record);
    expect(places.toSorted(byName)).toEqual([half.kept, half.left].toSorted(byName));
    const [adopted, ...more] = await placesOf(recordOf(prefix, 'site:1'));
    expect(more).toEqual([]);
    const queue = new Queue('work', { connection: redis, prefix: `{${prefix}}` });
    const waiting = await queue.getRanges(['wait', 'prioritized', 'delayed'], 0, -1);
    await queue.close();
    expect(waiting.toSorted(byName)).toEqual([half.kept, half.left, adopted!].toSorted(byName));
    expect(await redis.hkeys(`${record}:late`)).toEqual([half.left]);
    expect(await redis.exists(`${record}:runs`, `${record}:done`)).toBe(0);
    for (const line of await redis.keys(`${prefix}:{slot:*}:waiters`))
      expect(await redis.zrange(line, '0', '-1')).not.toContain(half.ghost);
    expect((await app.context.get(JobReader).read(half.late))?.state).toBe('expired');
    for (const one of [owner('trip', '1'), owner('site', '1')]) {
      const { entries } = await app.context.get(Removals).ofOwner(one);
      // Beside the one that was replaced, before anything was swept.
      expect(entries.filter(({ why }) => why === 'expired')).toMatchObject([{ id: half.late }]);
    }
    await until(async () => (await redis.keys(`${prefix}:{owners:*}`)).length > 0, 'they are listed');
  }
});

interface Half {
  readonly kept: string;
  readonly late: string;
  readonly replaced: string;
  readonly left: string;
  readonly dead: string;
  readonly ghost: string;
}

function byName(a: string, b: string): number {
  return a.localeCompare(b);
}
