import { pathToFileURL } from 'node:url';
import type { Fleet } from './fleet.js';
import { root, TestProcess } from './process.js';

type Preload = 'clock-shift' | 'fail-point';

/** Adds a worker that loads a test module before it starts: a wrong clock, or a crash point. */
export async function addOddWorker(
  fleet: Fleet,
  preload: Preload,
  env: NodeJS.ProcessEnv,
): Promise<TestProcess> {
  const worker = startOdd('worker', fleet, preload, env);
  fleet.workers.push(worker);
  await fleet.untilReady(worker);
  return worker;
}

/** Starts any app in the same way; it may not live long enough to become ready. */
export function startOdd(app: string, fleet: Fleet, preload: Preload, env: NodeJS.ProcessEnv): TestProcess {
  const file = pathToFileURL(`${root}test/support/${preload}.mjs`).href;
  const process = TestProcess.app(app, {
    REDIS_URL: fleet.storeUrl,
    MOORING_PREFIX: fleet.prefix,
    ARTIFACTS_URL: `file:${fleet.artifacts}`,
    LOG_LEVEL: 'debug',
    LOG_FORMAT: 'json',
    ...env,
    NODE_OPTIONS: `--import ${file} ${env['NODE_OPTIONS'] ?? ''}`,
  });
  fleet.processes.push(process);
  return process;
}
