import { Socket } from 'node:net';
import { parentPort } from 'node:worker_threads';
import { killGroup } from './kill-group.js';

/*
 * A thread beside a sandboxed handler. The worker holds the other end of this pipe, which closes when it dies. The handler's own thread
 * may be in a loop and never notice; this one ends the process.
 */

const WORKER = 4;

new Socket({ fd: WORKER })
  .on('error', () => undefined)
  .on('close', () => killGroup(process.pid))
  .resume();
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread's port has no origin
parentPort?.postMessage('watching');
