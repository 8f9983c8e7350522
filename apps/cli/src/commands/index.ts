import type { Command } from '../command.js';
import { cancelCommand } from './cancel.js';
import { enqueueCommand } from './enqueue.js';
import { jobCommand } from './job.js';
import { operationsCommand } from './operations.js';
import { ownerCommand, reopenCommand } from './owner.js';
import { queuesCommand } from './queues.js';
import { receiptCommand } from './receipt.js';
import { retryCommand } from './retry.js';
import { slotCommand } from './slot.js';
import { sweepCommand } from './sweep.js';
import { topCommand } from './top.js';

/** All commands, in the order in which the help lists them. */
export const COMMANDS: readonly Command[] = [
  enqueueCommand,
  jobCommand,
  retryCommand,
  ownerCommand,
  cancelCommand,
  receiptCommand,
  reopenCommand,
  queuesCommand,
  slotCommand,
  sweepCommand,
  operationsCommand,
  topCommand,
];
