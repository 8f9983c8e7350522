import { UnrecoverableError, type Job } from 'bullmq';
import { AsyncLocalStorage } from 'node:async_hooks';
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { isGone } from '../../../../test/support/is-gone.js';
import { root } from '../../../../test/support/process.js';
import { until } from '../../../../test/support/until.js';
import { SandboxEndedError } from '../errors.js';
import { defineKind } from '../kinds/kind.js';
import { Run } from './run.js';
import { Sandbox } from './sandbox.js';
import { OwnerCancelled, RunLost, RunTimedOut } from './stop-reasons.js';

const kind = defineKind({ name: 'render', queue: 'renders', payload: z.any(), grace: '300ms' });

const sandboxOf = (name: string): Sandbox =>
  new Sandbox(fileURLToPath(new URL(`../../../../test/support/${name}.sandbox.mjs`, import.meta.url)));
const odd = sandboxOf('odd');

/** A run whose progress the test sees. */
function aRun(): { run: Run; progress: unknown[] } {
  const progress: unknown[] = [];
  const envelope = { v: 1, o: ['trip:42', 'driver:7'], e: ['1', '1'], b: {} } as const;
  const job = {
    queueName: 'renders',
    name: 'render',
    id: 'renders-1',
    attemptsMade: 2,
    data: envelope,
    updateProgress: async (value: unknown) => void progress.push(value),
  };
  const run = new Run(job as unknown as Job, kind, envelope, [], 'token', () => undefined);
  run.begin('17');
  return { run, progress };
}

/** One that has begun, with the processes it told of. */
async function begun(payload: object): Promise<{ run: Run; work: Promise<unknown>; pids: number[] }> {
  const { run, progress } = aRun();
  const work = odd.handle(payload, run);
  // Whoever waits for it does so later.
  work.catch(() => undefined);
  const pids = await until(
    () => progress[0] as Record<string, number> | undefined,
    'its process said who it is',
  );
  return { run, work, pids: Object.values(pids) };
}

const untilGone = (pids: readonly number[]): Promise<true> =>
  until(() => pids.every(isGone), 'all are gone', 15_000);

describe('a sandbox', () => {
  it('gives its process the payload as it was parsed, and the facts of the run', async () => {
    const at = new Date(0);
    const result = (await odd.handle({ do: 'describe', at }, aRun().run)) as { pid: number };
    expect(result).toEqual({
      payload: { do: 'describe', at: at.toJSON() },
      isDate: true,
      run: {
        id: 'renders-1',
        kind: 'render',
        attempt: 3,
        owners: [
          { type: 'trip', id: '42' },
          { type: 'driver', id: '7' },
        ],
        fence: '17',
        isAborted: false,
      },
      pid: expect.any(Number),
      flags: [],
    });
    expect(result.pid).not.toBe(process.pid);
    expect(isGone(result.pid)).toBe(true);
  });

  it('may leave its result out', async () => {
    expect(await odd.handle({ do: 'nothing' }, aRun().run)).toBeUndefined();
  });

  it('takes a function that is exported as "handle"', async () => {
    expect(await sandboxOf('named').handle({}, aRun().run)).toBe('by name');
  });

  it('passes on what is logged and reported, also what nobody waited for', async () => {
    const job = new AsyncLocalStorage<string>();
    const { run, progress } = aRun();
    const lines: unknown[] = [];
    for (const level of ['log', 'warn'] as const) {
      vi.spyOn(run.log, level).mockImplementation(
        (...said) => void lines.push([level, job.getStore(), ...said]),
      );
    }
    expect(await job.run('renders-1', () => odd.handle({ do: 'tell' }, run))).toBe('told');
    expect(progress).toEqual([10, { done: 100 }]);
    expect(lines).toEqual([
      ['log', 'renders-1', 'A line.', { n: 1 }],
      ['warn', 'renders-1', '[Function (anonymous)]'],
      ['warn', 'renders-1', expect.stringMatching(/^Its progress could not be told: .*circular/)],
    ]);
  });

  it('takes no notice of words that make no sense', async () => {
    const { run, progress } = aRun();
    expect(await odd.handle({ do: 'babble' }, run)).toBe('said');
    expect(progress).toEqual([]);
  });

  it.each([
    ['fail', { name: 'RangeError', message: 'Too odd.', stack: expect.stringContaining('odd.sandbox.mjs') }],
    ['failWithText', { name: 'Error', message: 'only a text' }],
    ['crash', { name: 'Error', message: 'Nobody caught this.' }],
    ['unsendable', { name: 'TypeError', message: expect.stringContaining('BigInt') }],
  ])('fails with what its handler failed of: %s', async (way, error) => {
    const failed = odd.handle({ do: way }, aRun().run);
    await expect(failed).rejects.toMatchObject(error);
    await expect(failed).rejects.not.toBeInstanceOf(UnrecoverableError);
  });

  it('fails for good with an error that is unrecoverable by name or by ancestry', async () => {
    const failed = odd.handle({ do: 'giveUp' }, aRun().run);
    await expect(failed).rejects.toBeInstanceOf(UnrecoverableError);
    await expect(failed).rejects.toMatchObject({ name: 'OddlyNamed', message: 'Never again.' });
  });

  it('fails for good with a payload that cannot leave the worker', async () => {
    const failed = odd.handle({ do: 'describe', at: () => 0 }, aRun().run);
    await expect(failed).rejects.toBeInstanceOf(UnrecoverableError);
    await expect(failed).rejects.toThrow(
      'The payload of render cannot be sent to its sandbox: () => 0 could not be cloned.',
    );
  });

  it.each([
    ['no', /no\.sandbox\.mjs exports no handler: make it the default export, or name it "handle"\.$/],
    ['absent', /Cannot find module .*absent\.sandbox\.mjs/],
  ])('says what is wrong with its file: %s', async (name, message) => {
    await expect(sandboxOf(name).handle({}, aRun().run)).rejects.toThrow(message);
  });

  it.each([
    [{ do: 'exit', code: 3 }, 'exit code 3'],
    [{ do: 'exit', code: 0 }, 'exit code 0'],
    [{ do: 'dieBy', signal: 'SIGKILL' }, 'signal SIGKILL'],
    [{ do: 'hangUp' }, 'signal SIGKILL'],
  ])('fails when its process ends by itself: %o', async (payload, how) => {
    await expect(odd.handle(payload, aRun().run)).rejects.toThrow(new SandboxEndedError('render', how));
  });

  it('fails when its process cannot start, and its worker lives on', () => {
    const script = `
      import { openSync } from 'node:fs';
      const { Sandbox } = await import('${root}dist/libs/lifecycle/src/run/sandbox.js');
      const run = { kind: { name: 'render' }, owners: [], whenStopped: () => undefined };
      try {
        for (;;) openSync('/dev/null');
      } catch {}
      await new Sandbox('any.mjs').handle({}, run).catch((error) => console.log(error.name, error.message));`;
    const command = 'ulimit -n 1024; exec "$0" --input-type=module -e "$1"';
    const { status, stdout } = spawnSync('/bin/sh', ['-c', command, process.execPath, script], {
      encoding: 'utf8',
    });
    expect(stdout).toMatch(/^SandboxEndedError The sandbox of render .*it did not start \(spawn .*EMFILE\)/);
    expect(status).toBe(0);
  });

  it('is told why it should stop, and what it then makes counts', async () => {
    const { run, work, pids } = await begun({ do: 'wait' });
    run.stop(new RunTimedOut(100, 5_000));
    expect(await work).toEqual({ name: 'RunTimedOut', message: 'The run took longer than 100 ms.' });
    expect(pids.every(isGone)).toBe(true);
  });

  it.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)(
    'leaves it to its worker what becomes of %s',
    async (signal) => {
      const { run, work, pids } = await begun({ do: 'wait' });
      process.kill(pids[0]!, signal);
      run.stop(new RunTimedOut(100, 5_000));
      expect(await work).toMatchObject({ name: 'RunTimedOut' });
    },
  );

  it('is told so also when it has not begun yet', async () => {
    const { run } = aRun();
    run.stop(new OwnerCancelled(5_000));
    expect(await odd.handle({ do: 'describe' }, run)).toMatchObject({ run: { isAborted: true } });
  });

  it.each([new OwnerCancelled(300), new RunLost('its lease ended'), new Error('of the kind')])(
    'is killed, with what it started, when it does not stop in time: %s',
    async (reason) => {
      const { run, work, pids } = await begun({ do: 'spawn', next: 'busy' });
      expect(pids).toHaveLength(2);
      run.stop(reason);
      await expect(work).rejects.toBe(reason);
      expect(isGone(pids[0]!)).toBe(true);
      await untilGone(pids);
    },
  );

  it('leaves nothing of what it started when it ends well', async () => {
    const { run, work, pids } = await begun({ do: 'spawn', next: 'wait' });
    run.stop(new RunTimedOut(100, 5_000));
    expect(await work).toMatchObject({ name: 'RunTimedOut' });
    await untilGone(pids);
  });

  it('that does not end when it has answered is killed, and its answer counts', async () => {
    const pid = await odd.handle({ do: 'slowGoodbye' }, aRun().run);
    expect(isGone(pid as number)).toBe(true);
  });
});
