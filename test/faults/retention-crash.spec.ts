import {
  defineKind,
  Enqueuer,
  Handler,
  Handles,
  JobReader,
  owner,
  Sweeper,
  type Run,
  type SweepKind,
  type SweepRecord,
} from '#lifecycle';
import { Injectable } from '@nestjs/common';
import { spawn } from 'node:child_process';
import { hash, randomBytes } from 'node:crypto';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { recordOf } from '../support/cancel-door.js';
import { crashPoints, crashTime, fewestCommands } from '../support/crash-points.js';
import { defer } from '../support/defer.js';
import { KeptArtifacts } from '../support/kept-artifacts.js';
import { LifecycleApp } from '../support/lifecycle-app.js';
import { root, TestProcess } from '../support/process.js';
import { until } from '../support/until.js';

const REAP_HOLD_MS = 1_000;
const ARTIFACT_GRACE_MS = 1;
const AT_ONCE = 2;
/** Of the commands of a sweep of artifacts, so many are died at, from either side. */
const SAMPLED = 12;

const keptKind = defineKind({
  name: 'kept',
  queue: 'kept',
  payload: z.object({ goesOn: z.boolean().default(false) }),
  keep: { age: '1h', count: 1 },
});

/** I25, I28: who removes a finished job dies at any step; its artifacts go before it, and another finishes what is left. */
describe('kill -9 of who removes finished jobs', () => {
  let app: LifecycleApp;
  let kept: KeptArtifacts;
  /** It runs the whole time, and has put what it makes: nobody may take that. */
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

  async function start(): Promise<void> {
    const prefix = `test-${randomBytes(6).toString('hex')}`;
    kept = await KeptArtifacts.open(prefix);
    // A long lease: it is not to end because the machine is busy.
    app = await LifecycleApp.start([keptKind], [KeptHandler], { lockMs: 10_000 }, undefined, prefix, {
      artifacts: kept.store,
      sweeps: { reapHoldMs: REAP_HOLD_MS, artifactGraceMs: ARTIFACT_GRACE_MS, lockMs: 1_000 },
    });
    running = await enqueue(true);
    await until(async () => (await kept.jobs()).includes(running), 'it has put what it makes');
  }
  beforeAll(start);
  afterAll(async () => {
    mayEnd.resolve();
    await until(async () => (await stateOf(running)) === 'completed', 'it has completed');
    expect((await kept.store.list(running)).map(({ name }) => name)).toEqual(['a', 'b']);
    // What the last one that was killed left of its sweep.
    const sweep = (kind: SweepKind): Promise<SweepRecord | undefined> => app.context.get(Sweeper).sweep(kind);
    for (const kind of ['retention', 'artifacts'] as const)
      await until(async () => (await sweep(kind))?.state === 'done', `the last sweep of ${kind} is done`);
    await kept.clear();
    await app.stop();
    await kept.close();
  });

  it(
    'at every command leaves nothing that another does not finish',
    async () => {
      const commands = await fewestCommands(() => trial('before:#0'));
      console.log(`A sweep of retention sends ${commands} commands.`);
      const points = crashPoints(commands, commands);
      // What it does with the jobs, and not with its books, from both sides.
      const scripts = ['before:reap', 'after:reap', 'before:remember', 'after:remember'];
      for (const point of [...scripts, ...points]) await trial(point);
      console.log(`Killed ${ends.killed} of ${points.length + scripts.length}.`);
      expect(ends.killed).toBeGreaterThan(ends.lived * 5);
    },
    crashTime(600_000),
  );

  it(
    'at any command of the sweep of artifacts leaves nothing of jobs that are gone, and all of those that are not',
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

  /** Artifacts of jobs that nobody knows, and bytes that nothing leads to, swept by a process that is killed at a point. */
  async function strand(point: string, others: readonly string[]): Promise<number> {
    const { child, ready } = startSweeping(point);
    const gone = [1, 2, 3].map(() => `kept-${randomBytes(10).toString('hex')}`);
    for (const jobId of gone) await kept.store.put({ jobId, fence: '1' }, 'a', 'x');
    const shard = hash('sha256', gone[0]!, 'hex')[0]!;
    const list = `${app.prefix}:{made:${shard}}`;
    await app.redis.multi().zrem(list, gone[0]!).unlink(`${list}:${gone[0]}`).exec();
    await ready;
    const commands = await sweepAndDie(child, 'artifacts');
    // The first may only enter what nothing leads to.
    await until(
      async () => {
        await app.context.get(Sweeper).sweep('artifacts');
        const left = await kept.jobs();
        return gone.every((jobId) => !left.includes(jobId));
      },
      `what was killed ${point} is finished`,
      10_000,
    );
    expect({ point, left: await kept.jobs() }).toEqual({ point, left: others });
    return commands;
  }

  async function sweepAndDie({ child, exited }: TestProcess, kind: SweepKind): Promise<number> {
    let commands = 0;
    child.on('message', (word: { type: string; commands: number }) => {
      if (word.type === 'swept') ({ commands } = word);
    });
    child.send({ kind });
    const exit = await exited;
    expect([exit.code === 0, exit.signal === 'SIGKILL']).toContain(true);
    ends[exit.signal === null ? 'lived' : 'killed'] += 1;
    return commands;
  }

  /** Two jobs, of which the older one is to go, by a process that is killed at a point. Answers how many commands it sent. */
  async function trial(point: string): Promise<number> {
    const { child, ready } = startSweeping(point);
    const ids: string[] = [];
    for (let i = 0; i < AT_ONCE; i += 1) ids.push(await finish());
    const [older, newer] = ids as [string, string];
    await ready;
    const commands = await sweepAndDie(child, 'retention');

    const isGone = (await stateOf(older)) === 'removed';
    // The one that the trial before has kept goes beside it, and may be on its way still.
    if (isGone)
      expect({ point, isLeft: (await kept.jobs()).includes(older) }).toEqual({ point, isLeft: false });
    const marks = [`${recordOf(app.prefix, 'trip:42')}:reap`, `${app.prefix}:{reaping}`];
    await until(
      async () => {
        await app.context.get(Sweeper).sweep('retention');
        return (await stateOf(older)) === 'removed' && (await app.redis.exists(...marks)) === 0;
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

  async function finish(): Promise<string> {
    const id = await enqueue(false);
    await until(async () => (await stateOf(id)) === 'completed', 'it has completed');
    const record = recordOf(app.prefix, 'trip:42');
    await until(async () => (await app.redis.hexists(record, `j${id}`)) === 0, 'it has no place any more');
    return id;
  }

  async function enqueue(goesOn: boolean): Promise<string> {
    const to = { owners: [owner('trip', '42')] };
    return (await app.context.get(Enqueuer).enqueue(keptKind, { goesOn }, to)).id;
  }

  async function stateOf(id: string): Promise<string | undefined> {
    return (await app.context.get(JobReader).read(id))?.state;
  }

  function startSweeping(point: string): { child: TestProcess; ready: Promise<unknown> } {
    const { PATH, HOME } = process.env;
    const preload = pathToFileURL(`${root}test/support/fail-point.mjs`).href;
    const child = new TestProcess(
      spawn(process.execPath, ['--import', preload, `${root}test/support/sweeping.mjs`], {
        env: {
          PATH,
          HOME,
          REDIS_URL: app.storeUrl,
          MOORING_PREFIX: app.prefix,
          ARTIFACTS_URL: kept.url,
          REAP_HOLD_MS: String(REAP_HOLD_MS),
          ARTIFACT_GRACE_MS: String(ARTIFACT_GRACE_MS),
          FAIL_POINT: point,
        },
        stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
        cwd: root,
      }),
    );
    const ready = new Promise((resolve, reject) => {
      child.child.once('message', resolve);
      void child.exited.then(() => reject(new Error(`It ended: ${child.output}`)));
    });
    ready.catch(() => undefined);
    return { child, ready };
  }
});
