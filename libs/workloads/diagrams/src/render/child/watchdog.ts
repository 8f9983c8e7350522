import { readFileSync, rmSync } from 'node:fs';
import { Socket } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';

/*
 * The parent holds the other end of this pipe, which closes when it dies, however it dies. The process's own thread may be in
 * a loop and never hear of it.
 */

const PARENT = 4;
/** Of a browser's profile, where there is a browser. */
const { folder } = workerData as { folder?: string };

new Socket({ fd: PARENT })
  .on('error', () => undefined)
  .on('close', end)
  .resume();
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread's port has no origin
parentPort?.postMessage('watching');

function end(): void {
  try {
    if (folder) endBrowser(folder);
  } finally {
    process.kill(process.pid, 'SIGKILL');
  }
}

function endBrowser(profile: string): void {
  for (const leader of startedHere()) {
    try {
      process.kill(-leader, 'SIGKILL');
    } catch {
      // Nobody is left of it.
    }
  }
  // Its processes may still be writing.
  rmSync(profile, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
}

/** A browser may be only half started, and nobody told of it. Where the system does not say, it ends by its own pipe. */
function startedHere(): number[] {
  try {
    const { pid } = process;
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').map(Number).filter(Boolean);
  } catch {
    return [];
  }
}
