import { Owners, parseOwner } from '#core';
import {
  defineKind,
  Enqueuer,
  JobReader,
  OwnerReader,
  OwnerResolver,
  Sweeper,
  type EnqueueOptions,
} from '#nestjs';
import type { INestApplicationContext } from '@nestjs/common';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { sendCancelOnly } from '../support/core-cancel.js';
import { crashPoints, crashTime, fewestCommands } from '../support/crash-points.js';
import { CrashingProcess } from '../support/crashing-process.js';
import { KindApp } from '../support/kind-app.js';
import { seededRandom } from '../support/random.js';
import { until } from '../support/until.js';

const KINDS = ['expiry', 'repair', 'orphans'];
/** How many of the commands the test kills at, before or after each. */
const SAMPLED = 6;
const TRIAL_MS = 10_000;
const AT_ONCE = 2;

const work = defineKind({ name: 'work', queue: 'work', payload: z.any() });

class Buses extends OwnerResolver {
  async resolve(ids: string[]): Promise<Map<string, 'gone'>> {
    return new Map(ids.map((id) => [id, 'gone']));
  }
}

interface Jobs {
  /** A job of owners that no resolver reports as gone. */
  readonly kept: string;
  readonly late: string;
  /** A job of an owner whose cancel was not finished. */
  readonly cancelled: string;
  /** A job of an owner that one sweep has already found gone. */
  readonly orphan: string;
}

/** The next sweep finishes what a killed one was doing. */
describe('kill -9 of a process that sweeps', () => {
  const seed = Date.now() % 1_000_000;
  const random = seededRandom(seed);

  it(
    'at any command leaves nothing that the next sweep does not finish',
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

  /**
   * Fills a prefix of its own with something for every sweep. Returns the number of commands, if the process was not
   * killed.
   */
  async function trial(point: string): Promise<number | undefined> {
    const app = new KindApp();
    const context = await app.start([work], [], {
      resolvers: new Map([['bus', new Buses()]]),
      sweeps: { timers: false, lock: 1_000, ownerGrace: 1 },
    });
    try {
      const jobs = await populate(app, context);
      const process = CrashingProcess.start(app, point);
      const { done } = await process.obey({ sweep: KINDS });
      await sweepAll(context);
      await expectWhole(context, jobs);
      await context.get(Owners).cancel('trip:1', { close: false });
      await app.untilNothingIsLeft();
      return done?.commands;
    } finally {
      await app.stop();
    }
  }

  /** Sweeps twice: an owner is cancelled when two sweeps find it gone. */
  async function sweepAll(context: INestApplicationContext): Promise<void> {
    for (const kind of [...KINDS, ...KINDS])
      await until(async () => {
        const record = await context.get(Sweeper).sweep(kind);
        return record?.state === 'done' && record;
      }, `the sweep of ${kind} is done`);
  }

  async function populate(app: KindApp, context: INestApplicationContext): Promise<Jobs> {
    const enqueue = async (options: EnqueueOptions): Promise<string> =>
      (await context.get(Enqueuer).enqueue(work, 'p', options)).id;
    const orphan = await enqueue({ owners: ['bus:1'] });
    await pause(5);
    await context.get(Sweeper).sweep('orphans');
    const kept = await enqueue({ owners: ['trip:1'] });
    const late = await enqueue({ expiresIn: '1ms', owners: ['trip:1', 'site:1'] });
    const cancelled = await enqueue({ owners: ['ship:1', 'trip:1'] });
    await app.owners.openReceipts();
    await sendCancelOnly(app.redis, app.prefix, 'ship:1', 'c-1');
    return { kept, late, cancelled, orphan };
  }

  async function expectWhole(context: INestApplicationContext, jobs: Jobs): Promise<void> {
    const jobsOf = async (owner: string): Promise<string[]> =>
      (await context.get(OwnerReader).read(parseOwner(owner))).jobs.map(({ id }) => id);
    expect(await jobsOf('trip:1')).toEqual([jobs.kept]);
    for (const owner of ['site:1', 'ship:1', 'bus:1']) expect(await jobsOf(owner)).toEqual([]);
    const stateOf = async (id: string): Promise<string | undefined> =>
      (await context.get(JobReader).read(id))?.state;
    expect(await stateOf(jobs.kept)).toBe('waiting');
    expect(await stateOf(jobs.late)).toBe('expired');
    expect([await stateOf(jobs.cancelled), await stateOf(jobs.orphan)]).toEqual(['removed', 'removed']);
    for (const owner of ['trip:1', 'site:1']) {
      const entries = await context.get(Owners).history(owner);
      expect(entries.filter(({ reason }) => reason === 'expired')).toMatchObject([{ id: jobs.late }]);
    }
    const owners = context.get(Owners);
    expect(await owners.receipt('c-1')).toMatchObject({ removed: 1, done: true });
    expect(await owners.openReceipts()).toEqual([]);
  }
});
