import { StreamPublisher } from '#events';
import { Canceller, CleanUps, owner, Sweeper, type Receipt, type SweepRecord } from '#lifecycle';
import { Redis } from 'ioredis';
import { hash, randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { recordOf } from '../support/cancel-door.js';
import { CancellingProcess } from '../support/canceller.js';
import { crashPoints, crashTime, fewestCommands } from '../support/crash-points.js';
import { LifecycleApp } from '../support/lifecycle-app.js';
import type { Exit } from '../support/process.js';
import { seededRandom } from '../support/random.js';
import { scriptText } from '../support/script-text.js';
import { sweepInProcess } from '../support/sweeper.js';
import { until } from '../support/until.js';

const CLEAN_UP_EVERY_MS = 100;
const LOCK_MS = 300;
/** Longer than whoever ended a cancel has to tell of it. */
const LONG_MS = 61_000;
const SAMPLED = { cancel: 8, repair: 8 };

interface Told {
  readonly id: string;
  readonly data: Receipt;
}

/** I47: an owner's cancel is told to other services, whoever dies over it; and again under the same id alone. */
describe('kill -9 of who tells other services', () => {
  const seed = Date.now() % 1_000_000;
  const random = seededRandom(seed);
  let app: LifecycleApp;
  let redis: Redis;
  let n = 0;

  beforeEach(async () => {
    const prefix = `test-${randomBytes(6).toString('hex')}`;
    redis = new Redis(inject('storeUrl'), { maxRetriesPerRequest: null });
    // Else it would be sent twice, and the second time after the event.
    await redis.script('LOAD', scriptText('cancel/finish'));
    const teller = new StreamPublisher({ redis, prefix, publish: 'owners', keep: 10_000 });
    app = await LifecycleApp.start([], [], undefined, undefined, prefix, {
      cleanUpEveryMs: CLEAN_UP_EVERY_MS,
      sweeps: { lockMs: LOCK_MS },
      teller,
      worker: undefined,
    } as never);
  });
  afterEach(async () => {
    await app.stop();
    await redis.quit();
  });

  it.each([
    ['an owner that never had a job', false],
    ['an owner that had one', true],
  ])('between the clean-up of %s and the event: the next repair writes it, once', async (_owner, hadJob) => {
    if (hadJob) await giveJob(String(n + 1));
    const cancelId = await cancelAndDie('before:command/xadd');
    expect(await told()).toEqual([]);
    expect(await repair()).toMatchObject({ seen: 0, healed: 0 });
    await age(cancelId);
    expect(await repair()).toMatchObject({ seen: 1, healed: 1, failed: 0 });
    const receipt = await app.context.get(Canceller).receipt(cancelId);
    expect(await told()).toMatchObject([{ id: `owner.cancelled:${cancelId}`, data: receipt }]);
    expect(receipt).toMatchObject({ done: true });
    expect(await repair()).toMatchObject({ healed: 0 });
    expect(await told()).toHaveLength(1);
  });

  it('the same: without the list nobody would', async () => {
    const cancelId = await cancelAndDie('before:command/xadd');
    expect(await app.redis.unlink(`${app.prefix}:{cancels}:untold`)).toBe(1);
    await age(cancelId);
    expect(await repair()).toMatchObject({ seen: 0, healed: 0 });
    expect(await told()).toEqual([]);
  });

  it('between the event and its leaving the list: it is told once more, under the same id', async () => {
    const cancelId = await cancelAndDie('after:command/xadd');
    expect(await told()).toHaveLength(1);
    await age(cancelId);
    expect(await repair()).toMatchObject({ healed: 1 });
    const id = `owner.cancelled:${cancelId}`;
    expect(await told()).toMatchObject([{ id }, { id }]);
  });

  it('where nobody is told: nothing is listed', async () => {
    for (const env of [{}, { EVENTS_OUT: 'off' }]) await cancelAndDie('after:finish', env);
    expect(await app.redis.exists(`${app.prefix}:{cancels}:untold`)).toBe(0);
  });

  it('costs a cancel the event and its leaving the list, no more', async () => {
    // Nothing is to be sent by the clock, and no script twice.
    const seldom = { CLEAN_UP_EVERY_MS: '60000' };
    await cancel('before:#0', seldom);
    const silent = (await cancel('before:#0', seldom)).commands!;
    const { commands } = await cancel('before:#0', { ...seldom, EVENTS_OUT: 'owners' });
    expect(commands).toBeGreaterThanOrEqual(silent);
    expect(commands).toBeLessThanOrEqual(silent + 2);
  });

  it(
    'at any command: it is told at last, and nothing stays listed',
    async () => {
      const { commands } = await cancel('before:#0');
      // Beyond its answer there is the event, and what follows.
      const points = crashPoints(commands! + 4, SAMPLED.cancel, random);
      console.log(`A cancel sends ${commands} commands until its answer; seed ${seed}.`);
      let killed = 0;
      for (const point of points) {
        const { cancelId, exit } = await cancel(point);
        if (exit.signal === 'SIGKILL') killed += 1;
        const isMeant = (await app.redis.exists(`${app.prefix}:{cancels}:${digestOf(cancelId)}`)) === 1;
        // Its caller asks again, with the same id.
        if (isMeant && !(await isReceipted(cancelId)))
          await app.context.get(Canceller).cancel(owner('trip', String(n)), { cancelId });
        if (isMeant) await age(cancelId);
        await repair();
        const ids = (await told()).map(({ id }) => id).filter((id) => id.endsWith(`:${cancelId}`));
        expect({ point, seed, count: Math.min(1, ids.length) }).toEqual({
          point,
          seed,
          count: isMeant ? 1 : 0,
        });
        expect({ point, most: ids.length <= 2 }).toEqual({ point, most: true });
        expect(await listed()).toEqual([]);
      }
      console.log(`Killed ${killed} of ${points.length}.`);
      expect(killed).toBeGreaterThan(points.length / 2);
    },
    crashTime(90_000),
  );

  it(
    'at any command of the repair that tells it: the next one does',
    async () => {
      const commands = await fewestCommands(async () => (await heal('before:#0')).commands!);
      const points = crashPoints(commands, SAMPLED.repair, random);
      console.log(`A repair sends ${commands} commands; seed ${seed}.`);
      let killed = 0;
      for (const point of points) {
        const { exit } = await heal(point);
        if (exit.signal === 'SIGKILL') killed += 1;
      }
      console.log(`Killed ${killed} of ${points.length}.`);
      expect(killed).toBeGreaterThan(points.length / 2);
    },
    crashTime(90_000),
  );

  /** Three cancels that nobody was told of, and a repair that dies over them. */
  async function heal(point: string): Promise<Awaited<ReturnType<typeof sweepInProcess>>> {
    const cancelIds = [1, 2, 3].map(() => `c-${(n += 1)}`);
    for (const cancelId of cancelIds) {
      await app.context
        .get(Canceller)
        .cancel(owner('trip', cancelId.slice(2)), { cancelId, wait: 'drained' });
      await until(async () => (await listed()).length === 0, 'it is told');
    }
    for (const cancelId of cancelIds) {
      await age(cancelId);
      await app.redis.zadd(`${app.prefix}:{cancels}:untold`, Date.now(), digestOf(cancelId));
    }
    await app.redis.unlink(`${app.prefix}:events:out`);
    const env = { SWEEP_LOCK_MS: String(LOCK_MS), EVENTS_OUT: 'owners' };
    const done = await sweepInProcess(app, point, ['repair'], env);
    await repair();
    const all = (await told()).map(({ id }) => id);
    for (const cancelId of cancelIds) {
      const count = all.filter((id) => id === `owner.cancelled:${cancelId}`).length;
      expect({ point, seed, isTold: count === 1 || count === 2 }).toEqual({ point, seed, isTold: true });
    }
    expect(await listed()).toEqual([]);
    return done;
  }

  async function cancelAndDie(
    point: string,
    env: Readonly<Record<string, string>> = { EVENTS_OUT: 'owners' },
  ): Promise<string> {
    const { cancelId, exit } = await cancel(point, env);
    expect(exit.signal).toBe('SIGKILL');
    await until(
      async () => (await app.context.get(Canceller).receipt(cancelId))?.done && !(await isFollowed(cancelId)),
      'others have brought it to its end',
    );
    return cancelId;
  }

  async function cancel(
    point: string,
    env: Readonly<Record<string, string>> = { EVENTS_OUT: 'owners' },
  ): Promise<{ cancelId: string; exit: Exit; commands: number | undefined }> {
    const id = String((n += 1));
    const cancelId = `c-${id}`;
    const process = new CancellingProcess(app.storeUrl, app.prefix, point, CLEAN_UP_EVERY_MS, env);
    await process.untilReady();
    const { exit, answer } = await process.cancel(`trip:${id}`, { cancelId, wait: 'drained' });
    return { cancelId, exit, commands: answer?.commands };
  }

  /** The record of an owner whose job ended. */
  async function giveJob(id: string): Promise<void> {
    const record = recordOf(app.prefix, `trip:${id}`);
    await app.redis.hset(record, { e: '1', v: '1', o: `trip:${id}`, n: '1', s: 'open', l: '0' });
  }

  async function repair(): Promise<SweepRecord> {
    return until(async () => {
      const record = await app.context.get(Sweeper).sweep('repair');
      return record?.state === 'done' && record;
    }, 'the repair is done');
  }

  async function isReceipted(cancelId: string): Promise<boolean> {
    return (await app.context.get(Canceller).receipt(cancelId)) !== undefined;
  }

  async function isFollowed(cancelId: string): Promise<boolean> {
    await app.context.get(CleanUps).resume();
    return (await app.redis.zscore(`${app.prefix}:{cancels}`, digestOf(cancelId))) !== null;
  }

  /** As if it had been done so long ago that whoever did it must have told it. */
  async function age(cancelId: string): Promise<void> {
    const receipt = `${recordOf(app.prefix, `trip:${cancelId.slice(2)}`)}:cancel:${digestOf(cancelId)}`;
    const doneAt = await until(() => app.redis.hget(receipt, 'd'), 'it is done');
    await app.redis.hset(receipt, 'd', Number(doneAt) - LONG_MS);
  }

  function listed(): Promise<string[]> {
    return app.redis.zrange(`${app.prefix}:{cancels}:untold`, '0', '-1');
  }

  async function told(): Promise<Told[]> {
    const entries = await app.redis.xrange(`${app.prefix}:events:out`, '-', '+');
    return entries.map(([, [, event]]) => JSON.parse(event!) as Told);
  }
});

function digestOf(cancelId: string): string {
  return hash('sha256', cancelId, 'base64url').slice(0, 22);
}
