import { readBullScripts } from './bullmq-texts.js';
import type { ComposedName } from './recipes.js';

type Argument = string | number | Buffer;

/** What stands behind BullMQ's own arguments of a script that we compose, by the name BullMQ calls it. */
interface Place {
  readonly root: string;
  readonly prefix: string;
}

type Extend = (argv: readonly Argument[], place: Place, name: string) => Argument[];

const rootAlone: Extend = (_, { root }) => [root];
const nameAndRoot: Extend = (_, { root }, name) => [name, root];
const prefixAndRoot: Extend = (_, { prefix, root }) => [prefix, root];

/** The positions of job, token and time in the ARGV of BullMQ's script, counted from 0; without a time it is now. */
function requeue(job: number, token: number, time?: number): Extend {
  return (argv, { root, prefix }, name) => [
    name,
    prefix,
    argv[job]!,
    argv[token]!,
    time === undefined ? Date.now() : argv[time]!,
    root,
  ];
}

const EXTRA: Partial<Record<ComposedName, Extend>> = {
  moveToActive: rootAlone,
  extendLocks: rootAlone,
  moveToDelayed: requeue(2, 3, 1),
  retryJob: requeue(3, 4, 1),
  moveJobFromActiveToWait: requeue(0, 1),
  moveToWaitingChildren: requeue(3, 0, 2),
  reprocessJob: prefixAndRoot,
  updateJobScheduler: prefixAndRoot,
  removeJob: nameAndRoot,
  drain: nameAndRoot,
  cleanJobsInSet: nameAndRoot,
  obliterate: nameAndRoot,
  removeUnprocessedChildren: nameAndRoot,
  removeJobScheduler: nameAndRoot,
};

/** The arguments of the composed script that stands for BullMQ's of this name, or nothing if none does. */
export function extendArguments(
  name: string,
  args: readonly Argument[],
  place: Place,
): Argument[] | undefined {
  const extend = EXTRA[name as ComposedName];
  if (!extend) return undefined;
  // A client writes what is missing as an empty text.
  const given = args.map((value) => value ?? '');
  const argv = given.slice(readBullScripts().get(name)!.numberOfKeys);
  return [...given, ...extend(argv, place, name)];
}
