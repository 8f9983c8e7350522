import { rmSync } from 'node:fs';
import { Socket } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';
import { endGroup, startedBy } from '../pool/family.js';

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
  // A browser may be only half started, and nobody told of it. Where the system does not say, it ends by its own pipe.
  for (const leader of startedBy(process.pid) ?? []) endGroup(leader);
  // Its processes may still be writing.
  rmSync(profile, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
}
