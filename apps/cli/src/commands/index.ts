import type { Command } from '../command.js';
import * as cancel from './cancel.js';
import { completionCommand } from './completion.js';
import * as enqueue from './enqueue.js';
import * as flow from './flow.js';
import * as job from './job.js';
import * as jobs from './jobs.js';
import * as lists from './lists.js';
import * as operations from './operations.js';
import * as owner from './owner.js';
import * as queues from './queues.js';
import * as receipt from './receipt.js';
import * as repair from './repair.js';
import * as schedules from './schedules.js';
import * as slot from './slot.js';
import * as sweep from './sweep.js';

const FILES = [
  cancel,
  enqueue,
  flow,
  job,
  jobs,
  lists,
  operations,
  owner,
  queues,
  receipt,
  repair,
  schedules,
];
const declared = [...FILES, slot, sweep].flatMap((file) => Object.values<unknown>(file).filter(isCommand));

/** Every command that one of these files exports, by name. */
export const COMMANDS: readonly Command[] = [...declared, completionCommand(declared)].toSorted((a, b) =>
  a.name < b.name ? -1 : 1,
);

function isCommand(exported: unknown): exported is Command {
  return typeof exported === 'object' && exported !== null && 'run' in exported;
}
