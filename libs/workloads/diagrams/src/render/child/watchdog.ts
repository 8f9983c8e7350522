import { Socket } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';
import { endBrowser } from './end-browser.js';

/*
 * The parent holds the other end of this pipe, which closes when it dies, however it dies. The process's own thread may be in
 * a loop and never hear of it.
 */

const PARENT = 4;
/** Of a browser's profile, or of the fonts of a drawing. */
const { folder } = workerData as { folder?: string };

new Socket({ fd: PARENT })
  .on('error', () => undefined)
  .on('close', end)
  .resume();
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread's port has no origin
parentPort?.postMessage('watching');

function end(): void {
  if (folder) endBrowser(folder);
  process.kill(process.pid, 'SIGKILL');
}
