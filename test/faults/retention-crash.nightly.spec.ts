import {
  defineKind,
  Enqueuer,
  Handler,
  Handles,
  JobReader,
  OwnerReader,
  Sweeper,
  type Run,
  type SweepRecord,
} from '#nestjs';
import { owner } from '#core';
import { Injectable, type INestApplicationContext } from '@nestjs/common';
import { hash, randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { crashPoints, crashTime, fewestCommands } from '../support/crash-points.js';
import { CrashingProcess } from '../support/crashing-process.js';
import { defer } from '../support/defer.js';
import { KeptArtifacts } from '../support/kept-artifacts.js';
import { KindApp } from '../support/kind-app.js';
import { until } from '../support/until.js';

const TRIP = owner('trip', '42');
const AT_ONCE = 2;
/** How many of the commands of an artifacts sweep the test kills at, before or after each. */
const SAMPLED = 12;

const keptKind = defineKind({
  name: 'kept',
  queue: 'kept',
  payload: z.object({ goesOn: z.boolean().default(false) }),
  keep: { age: '1h', count: 1 },
  artifacts: true,
});

/**
 * I25, I28: a process that removes a finished job is killed at any step. Artifacts are removed before their job, and
 * another process removes the rest.
 */
describe('kill -9 of a process that removes finished jobs', () => {
  let app: KindApp;
  let context: INestApplicationContext;
  let kept: KeptArtifacts;
  /** Runs during the whole test. No sweep may remove its artifacts. */
  let running: string;
  const mayEnd = defer();
  const ends = { killed: 0, lived: 0 };

  @Injectable()
  @Handles(keptKind)
  class KeptHandler extends Handler<typeof keptKind> {
    async handle({ goesOn }: { goesOn: boolean }, run: Run): Promise<void> {
      await run.artifacts.put('a', 'x');
      await run.artifacts.put('b', 'x');
      if (goesOn) await mayEnd.promise;
    }
  }

  beforeAll(async () => {
    app = new KindApp();
    kept = await KeptArtifacts.open(app.prefix);
    context = await app.startWorker([keptKind], [KeptHandler], {
      // A long lock, so that it does not expire only because the machine is busy.
      worker: { lockDuration: 10_000 },
      artifacts: kept.store,
      sweeps: { timers: false, lock: 1_000, artifactGrace: 1 },
    });
    running = await enqueue(true);
    await until(async () => (await kept.jobs()).includes(running), 'it has put what it makes');
  });
  afterAll(async () => {
    mayEnd.resolve();
    await until(async () => (await stateOf(running)) === 'completed', 'it has completed');
    expect((await kept.store.list(running, '1')).map(({ name }) => name)).toEqual(['a', 'b']);
    // What the last killed process left of its sweep.
    for (const kind of ['retention', 'artifacts'])
      await until(async () => (await sweep(kind))?.state === 'done', `the last sweep of ${kind} is done`);
    await kept.clear();
    await app.untilNothingIsLeft();
    await app.stop();
    await kept.close();
  });

  it(
    'at any command leaves nothing that another process does not finish',
    async () => {
      const commands = await fewestCommands(() => trial('before:#0'));
      console.log(`A sweep of retention sends ${commands} commands.`);
      const points = crashPoints(commands, commands);
      for (const point of points) await trial(point);
      console.log(`Killed ${ends.killed} of ${points.length}.`);
      expect(ends.killed).toBeGreaterThan(points.length / 2);
    },
    crashTime(600_000),
  );

  it(
    'at any command of the artifacts sweep removes all artifacts of missing jobs in the end, and no others',
    async () => {
      await finish();
      const others = await kept.jobs();
      expect(others).toContain(running);
      const before = { ...ends };
      const commands = await fewestCommands(() => strand('before:#0', others));
      console.log(`A sweep of artifacts sends ${commands} commands.`);
      const points = crashPoints(commands, SAMPLED);
      for (const point of points) await strand(point, others);
      const killed = ends.killed - before.killed;
      console.log(`Killed ${killed} of ${points.length}.`);
      expect(killed).toBeGreaterThan(points.length / 2);
    },
    crashTime(120_000),
  );

  /** Makes artifacts of unknown jobs and bytes that are in no index, and starts a sweep that is killed at `point`. */
  async function strand(point: string, others: readonly string[]): Promise<number> {
    const process = startSweeping(point);
    const gone = [1, 2, 3].map(() => `kept-${randomBytes(10).toString('hex')}`);
    for (const jobId of gone) await kept.store.put({ jobId, fence: '1' }, 'a', 'x');
    const shard = hash('sha256', gone[0]!, 'hex')[0]!;
    const list = `${app.prefix}:{made:${shard}}`;
    await app.redis.multi().zrem(list, gone[0]!).unlink(`${list}:${gone[0]}`).exec();
    const commands = await sweepAndDie(process, 'artifacts');
    // The first sweep may only add such bytes to the index.
    await until(
      async () => {
        await sweep('artifacts');
        const left = await kept.jobs();
        return gone.every((jobId) => !left.includes(jobId));
      },
      `what was killed ${point} is finished`,
      10_000,
    );
    expect({ point, left: await kept.jobs() }).toEqual({ point, left: others });
    return commands;
  }

  /**
   * Sweeps two jobs, of which the older one is due for removal, in a process that is killed at `point`. Returns the
   * number of commands it sent.
   */
  async function trial(point: string): Promise<number> {
    const process = startSweeping(point);
    const ids: string[] = [];
    for (let i = 0; i < AT_ONCE; i += 1) ids.push(await finish());
    const [older, newer] = ids as [string, string];
    const commands = await sweepAndDie(process, 'retention');

    const isGone = (await stateOf(older)) === 'removed';
    // The job that the previous trial kept is removed in the same sweep, and its removal may still be under way.
    if (isGone)
      expect({ point, isLeft: (await kept.jobs()).includes(older) }).toEqual({ point, isLeft: false });
    await until(
      async () => {
        await sweep('retention');
        return (await stateOf(older)) === 'removed';
      },
      `what was killed ${point} is finished`,
      30_000,
    );
    expect({ point, left: await kept.jobs(), newer: await stateOf(newer) }).toEqual({
      point,
      left: [newer, running].toSorted(),
      newer: 'completed',
    });
    return commands;
  }

  async function sweepAndDie(process: CrashingProcess, kind: string): Promise<number> {
    const { done } = await process.obey({ sweep: [kind] });
    ends[done ? 'lived' : 'killed'] += 1;
    return done?.commands ?? 0;
  }

  function sweep(kind: string): Promise<SweepRecord | undefined> {
    return context.get(Sweeper).sweep(kind);
  }

  async function finish(): Promise<string> {
    const id = await enqueue(false);
    await until(async () => (await stateOf(id)) === 'completed', 'it has completed');
    const { jobs } = await context.get(OwnerReader).read(TRIP);
    expect(jobs.map((job) => job.id)).toEqual([running]);
    return id;
  }

  async function enqueue(goesOn: boolean): Promise<string> {
    return (await context.get(Enqueuer).enqueue(keptKind, { goesOn }, { owners: [TRIP] })).id;
  }

  async function stateOf(id: string): Promise<string | undefined> {
    return (await context.get(JobReader).read(id))?.state;
  }

  function startSweeping(point: string): CrashingProcess {
    return CrashingProcess.start(app, point, { ARTIFACTS_URL: kept.url });
  }
});
