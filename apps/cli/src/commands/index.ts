import type { Command } from '../command.js';
import { cancel } from './cancel.js';
import { enqueue } from './enqueue.js';
import { job } from './job.js';
import { owner } from './owner.js';
import { queues } from './queues.js';
import { receipt } from './receipt.js';
import { reopen } from './reopen.js';
import { slot } from './slot.js';
import { sweep } from './sweep.js';
import { top } from './top.js';

/** All commands, in the order in which the help lists them. */
export const COMMANDS: readonly Command[] = [
  enqueue,
  job,
  owner,
  cancel,
  receipt,
  reopen,
  queues,
  slot,
  sweep,
  top,
];
