import { setTimeout as pause } from 'node:timers/promises';
import { EngineUnavailable } from '../container-engine.js';
import { isRunning, type ProcessIdentity } from './process-identity.js';

const LOOK_MS = 10;
/** Limit for a killed process to disappear; after it, the process hangs in the kernel. */
const KILLED_MS = 5_000;

/** Ends a process and its group: SIGTERM first, SIGKILL after the grace period. */
export async function endProcess(
  identity: ProcessIdentity,
  graceMs: number,
  signal: AbortSignal,
): Promise<void> {
  if (graceMs > 0 && (await sent('SIGTERM', identity)) && (await ended(identity, graceMs, signal))) return;
  if ((await sent('SIGKILL', identity)) && !(await ended(identity, KILLED_MS, signal)))
    throw new EngineUnavailable(`Process ${identity.pid} does not end, although it was killed.`);
}

/** Checks the identity before each signal, because the pid may have been reused. */
async function sent(word: NodeJS.Signals, identity: ProcessIdentity): Promise<boolean> {
  if (!(await isRunning(identity))) return false;
  try {
    process.kill(-identity.pid, word);
    return true;
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ESRCH') return false;
    throw new EngineUnavailable(`Process ${identity.pid} could not be sent ${word}.`, { cause });
  }
}

async function ended(identity: ProcessIdentity, withinMs: number, signal: AbortSignal): Promise<boolean> {
  const deadline = performance.now() + withinMs;
  while (await isRunning(identity)) {
    if (performance.now() > deadline) return false;
    await pause(LOOK_MS, undefined, { signal });
  }
  return true;
}
