import { pathToFileURL } from 'node:url';
import type { Fleet } from './fleet.js';
import { root, TestProcess } from './process.js';

/** Adds a worker that loads something of ours before it starts: a wrong clock, or a point at which it is killed. */
export async function addOddWorker(
  fleet: Fleet,
  preload: 'clock-shift' | 'fail-point',
  env: NodeJS.ProcessEnv,
): Promise<TestProcess> {
  const file = pathToFileURL(`${root}test/support/${preload}.mjs`).href;
  const worker = TestProcess.app('worker', {
    REDIS_URL: fleet.storeUrl,
    MOORING_PREFIX: fleet.prefix,
    LOG_LEVEL: 'debug',
    LOG_FORMAT: 'json',
    NODE_OPTIONS: `--import ${file}`,
    ...env,
  });
  fleet.processes.push(worker);
  fleet.workers.push(worker);
  await fleet.untilReady(worker);
  return worker;
}
