import type { SweepKind } from '#lifecycle';
import { spawn } from 'node:child_process';
import { pathToFileURL } from 'node:url';
import { root, TestProcess, type Exit } from './process.js';
import { until } from './until.js';

/** Sweeps in a process that is killed at a point on the way; see fail-point.mjs. Says how many commands it sent, if it lived. */
export async function sweepInProcess(
  { storeUrl, prefix }: { readonly storeUrl: string; readonly prefix: string },
  failPoint: string,
  kinds: readonly SweepKind[],
  more: Readonly<Record<string, string>>,
): Promise<{ exit: Exit; commands: number | undefined }> {
  const preload = pathToFileURL(`${root}test/support/fail-point.mjs`).href;
  const { PATH, HOME } = process.env;
  const env = { PATH, HOME, REDIS_URL: storeUrl, MOORING_PREFIX: prefix, FAIL_POINT: failPoint, ...more };
  const child = spawn(process.execPath, ['--import', preload, `${root}test/support/sweeper.mjs`], {
    env,
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    cwd: root,
  });
  const sweeper = new TestProcess(child);
  let commands: number | undefined;
  let isStarted = false;
  child.on('message', (word: { type: string; commands: number }) => {
    if (word.type === 'started') isStarted = true;
    else commands = word.commands;
  });
  await until(() => {
    if (sweeper.hasExited) throw new Error(`It ended: ${sweeper.output}`);
    return isStarted;
  }, 'it can sweep');
  child.send({ kinds });
  return { exit: await sweeper.exited, commands };
}
