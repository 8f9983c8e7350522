import { Socket } from 'node:net';
import { parentPort } from 'node:worker_threads';

/*
 * The parent holds the other end of this pipe, which closes when it dies, however it dies.
 */

const PARENT = 4;

new Socket({ fd: PARENT })
  .on('error', () => undefined)
  .on('close', () => process.kill(process.pid, 'SIGKILL'))
  .resume();
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread's port has no origin
parentPort?.postMessage('watching');
