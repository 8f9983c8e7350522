import { readBullScripts, type Recipe } from '#bullmq-scripts';
import { RECIPES } from './recipes.js';
import type { Argument } from './redis-client.js';

/** Where a script runs. */
interface Place {
  readonly prefix: string;
  readonly root: string;
}

/**
 * Where job, token and time stand among the arguments of a run that gives its job back, counted from 0 behind the keys; without a time it
 * is now.
 */
const RUNS: Readonly<Record<string, readonly [job: number, token: number, time?: number]>> = {
  moveToDelayed: [2, 3, 1],
  retryJob: [3, 4, 1],
  moveJobFromActiveToWait: [0, 1],
  moveToWaitingChildren: [3, 0, 2],
};

/**
 * The arguments of the composed script that runs in place of BullMQ's of this name, or nothing if none does: its name, the prefix of the
 * queue and the root stand behind what it is given.
 */
export function extendArguments(
  name: string,
  given: readonly Argument[],
  { prefix, root }: Place,
): Argument[] | undefined {
  const recipe = (RECIPES as Readonly<Record<string, Recipe>>)[name];
  if (recipe?.standsFor !== name) return undefined;
  // A client writes what is missing as an empty text.
  const args = given.map((value) => value ?? '');
  // `ScriptedBackend` reads the job of a run from the end of these.
  return [...args, ...runIn(name, args), name, prefix, root];
}

function runIn(name: string, args: readonly Argument[]): Argument[] {
  const at = RUNS[name];
  if (!at) return [];
  const [job, token, time] = at;
  const argv = args.slice(readBullScripts().get(name)!.numberOfKeys);
  return [argv[job]!, argv[token]!, time === undefined ? Date.now() : argv[time]!];
}
