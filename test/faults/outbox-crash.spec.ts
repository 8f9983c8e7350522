import { Owners } from '#core';
import { StreamPublisher } from '#events';
import { Outbox } from '#nestjs';
import type { INestApplicationContext } from '@nestjs/common';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { crashPoints, crashTime, fewestCommands } from '../support/crash-points.js';
import { CrashingProcess, type Order } from '../support/crashing-process.js';
import { KindApp } from '../support/kind-app.js';
import type { Exit } from '../support/process.js';
import { seededRandom } from '../support/random.js';
import { until } from '../support/until.js';

const SAMPLED = { cancel: 3, relay: 3 };
const TELLS = { EVENTS_OUT: 'owners' };

interface Told {
  readonly id: string;
  readonly data: object;
}

/**
 * I47: other services are told of the cancel of an owner, whichever process is killed. A repeated event has the same
 * id.
 */
describe('kill -9 of a process that publishes events', () => {
  const seed = Date.now() % 1_000_000;
  const random = seededRandom(seed);
  let app: KindApp;
  let context: INestApplicationContext;
  let n = 0;

  beforeEach(async () => {
    app = new KindApp();
    const { redis, prefix } = app;
    const publisher = new StreamPublisher({ redis, prefix, publish: 'owners', keep: 10_000 });
    context = await app.start([], [], { publisher });
  });
  afterEach(async () => {
    await app.untilNothingIsLeft();
    await app.stop();
  });

  it('between the cancel and the event: another process writes it, once', async () => {
    const cancelId = await cancelAndDie('before:command/xadd');
    expect(await told()).toEqual([]);
    await relayAll();
    const receipt = await context.get(Owners).receipt(cancelId);
    expect(await told()).toMatchObject([{ id: `owner.cancelled:${cancelId}`, data: { cancelId } }]);
    expect(receipt).toMatchObject({ done: true });
    expect(await context.get(Outbox).relay()).toBe(0);
    expect(await told()).toHaveLength(1);
  });

  it('between the cancel and the event: without the outbox the event would be lost', async () => {
    await cancelAndDie('before:command/xadd');
    expect(await app.redis.unlink(`${app.prefix}~outbox`)).toBe(1);
    expect(await context.get(Outbox).relay()).toBe(0);
    expect(await told()).toEqual([]);
  });

  it('between the event and its removal from the outbox: the event is repeated under the same id', async () => {
    const cancelId = await cancelAndDie('after:command/xadd');
    expect(await told()).toHaveLength(1);
    await relayAll();
    const id = `owner.cancelled:${cancelId}`;
    expect(await told()).toMatchObject([{ id }, { id }]);
  });

  it('that publishes nothing leaves no outbox entry', async () => {
    for (const env of [{}, { EVENTS_OUT: 'off' }]) {
      await cancel('before:#0', env);
      await until(async () => (await listed()).length === 0, 'nothing is listed', 1_000);
    }
    expect(await told()).toEqual([]);
  });

  it(
    'at any command: the event is published in the end, and the outbox is empty',
    async () => {
      const { commands } = await cancel('before:#0');
      // The event is written after the answer, so there are more commands.
      const points = crashPoints(commands! + 4, SAMPLED.cancel, random);
      console.log(`A cancel sends ${commands} commands until its answer; seed ${seed}.`);
      let killed = 0;
      for (const point of points) {
        const { cancelId, exit } = await cancel(point);
        if (exit.signal === 'SIGKILL') killed += 1;
        const isMade = (await context.get(Owners).receipt(cancelId)) !== undefined;
        await relayAll();
        expect({ point, seed, told: await timesTold(cancelId) }).toEqual({
          point,
          seed,
          told: isMade ? expect.toBeOneOf([1, 2]) : 0,
        });
      }
      console.log(`Killed ${killed} of ${points.length}.`);
      expect(killed).toBeGreaterThan(points.length / 2);
    },
    crashTime(90_000),
  );

  it(
    'at any command of the relay: the next relay publishes the events',
    async () => {
      const commands = await fewestCommands(async () => (await relayAndDie('before:#0')).commands!);
      const points = crashPoints(commands, SAMPLED.relay, random);
      console.log(`A relay sends ${commands} commands; seed ${seed}.`);
      let killed = 0;
      for (const point of points) {
        const { exit } = await relayAndDie(point);
        if (exit.signal === 'SIGKILL') killed += 1;
      }
      console.log(`Killed ${killed} of ${points.length}.`);
      expect(killed).toBeGreaterThan(points.length / 2);
    },
    crashTime(90_000),
  );

  /** Makes three cancels with unpublished events, and starts a relay that is killed at `point`. */
  async function relayAndDie(point: string): Promise<{ exit: Exit; commands: number | undefined }> {
    const process = CrashingProcess.start(app, point, TELLS);
    await process.untilReady();
    const outbox = new Owners({ connection: app.redis, prefix: app.prefix, outbox: true });
    const cancelIds = [1, 2, 3].map(() => `c-${(n += 1)}`);
    for (const cancelId of cancelIds) await outbox.cancel(`trip:${cancelId.slice(2)}`, { cancelId });
    await outbox.close();
    await makeDue();
    const { exit, done } = await process.obey({ relay: true });
    await relayAll();
    for (const cancelId of cancelIds)
      expect({ point, seed, told: await timesTold(cancelId) }).toEqual({
        point,
        seed,
        told: expect.toBeOneOf([1, 2]),
      });
    return { exit, commands: done?.commands };
  }

  async function cancelAndDie(point: string): Promise<string> {
    const { cancelId, exit } = await cancel(point);
    expect(exit.signal).toBe('SIGKILL');
    expect(await context.get(Owners).receipt(cancelId)).toMatchObject({ done: true });
    return cancelId;
  }

  async function cancel(
    point: string,
    env: Readonly<Record<string, string>> = TELLS,
  ): Promise<{ cancelId: string; exit: Exit; commands: number | undefined }> {
    const id = String((n += 1));
    const cancelId = `c-${id}`;
    const order: Order = { cancel: { owner: `trip:${id}`, options: { cancelId, wait: 'drained' } } };
    const { exit, done } = await CrashingProcess.start(app, point, env).obey(order);
    return { cancelId, exit, commands: done?.commands };
  }

  /** Relays until the outbox is empty. */
  async function relayAll(): Promise<void> {
    await until(async () => {
      await makeDue();
      await context.get(Outbox).relay();
      return (await listed()).length === 0;
    }, 'every event is published');
  }

  /** Makes the entries as old as those that their process should have published. */
  async function makeDue(): Promise<void> {
    for (const entry of await listed()) await app.redis.zadd(`${app.prefix}~outbox`, 'XX', 1, entry);
  }

  function listed(): Promise<string[]> {
    return app.redis.zrange(`${app.prefix}~outbox`, '0', '-1');
  }

  async function timesTold(cancelId: string): Promise<number> {
    return (await told()).filter(({ id }) => id === `owner.cancelled:${cancelId}`).length;
  }

  async function told(): Promise<Told[]> {
    const entries = await app.redis.xrange(`${app.prefix}:events:out`, '-', '+');
    return entries.map(([, [, event]]) => JSON.parse(event!) as Told);
  }
});
