import { rmSync } from 'node:fs';
import { Socket } from 'node:net';
import { parentPort } from 'node:worker_threads';

/*
 * The parent holds the other end of this pipe, which closes when it dies, however it dies. The process's own thread may be in
 * a loop and never hear of it.
 */

const PARENT = 4;
/** Of a browser that belongs to this process, and of its profile. */
let browser: { leader: number; folder: string } | undefined;

parentPort?.on('message', (told: typeof browser) => (browser = told));
new Socket({ fd: PARENT })
  .on('error', () => undefined)
  .on('close', end)
  .resume();
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread's port has no origin
parentPort?.postMessage('watching');

function end(): void {
  try {
    if (browser) endBrowser(browser);
  } finally {
    process.kill(process.pid, 'SIGKILL');
  }
}

function endBrowser({ leader, folder }: NonNullable<typeof browser>): void {
  try {
    process.kill(-leader, 'SIGKILL');
  } catch {
    // Nobody is left of it.
  }
  // Its processes may still be writing.
  rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
}
