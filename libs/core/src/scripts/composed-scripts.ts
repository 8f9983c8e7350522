import {
  bullRelease,
  checkTexts,
  compose,
  guard,
  readBullScripts,
  readTexts,
  type ComposedScript,
  type Recipe,
} from '#bullmq-scripts';
import type { Argument, RedisClient } from './redis-client.js';
import { untilSlotRests } from './moving-slots.js';
import { RECIPES, type ComposedName } from './recipes.js';

const ownText = readTexts(new URL('./lua/', import.meta.url));

let composed: ReadonlyMap<string, ComposedScript> | undefined;

/**
 * All composed scripts, and the rest of BullMQ's. They are the same for every queue of a process, and made once. Throws for an unknown
 * release of BullMQ.
 */
export function composedScripts(): ReadonlyMap<string, ComposedScript> {
  if (!composed) {
    const bull = readBullScripts();
    checkTexts(new Set(Object.values(RECIPES).flatMap((recipe) => recipe.bull)), bull, bullRelease());
    composed = new Map([
      ...[...bull].map(([name, script]) => [name, guard(script)] as const),
      ...Object.entries(RECIPES).map(([name, recipe]) => [name, composeOurs(recipe)] as const),
    ]);
  }
  return composed;
}

export function composeOurs(recipe: Recipe): ComposedScript {
  return compose(recipe, readBullScripts(), ownText);
}

const FLAGS = /^#!lua.*\n/;

/**
 * Makes the composed scripts known to a client, before any pipeline of it is made: a pipeline knows the commands of its making.
 * @param storeVersion before 7.0 a store takes no flags, and the line that names them is an error to it
 */
export function defineScripts(client: RedisClient, storeVersion: string): void {
  const takesFlags = parseInt(storeVersion, 10) >= 7;
  for (const [name, { lua, numberOfKeys }] of composedScripts()) {
    const command = commandOf(name);
    if (command in client) continue;
    client.defineCommand(command, { lua: takesFlags ? lua : lua.replace(FLAGS, ''), numberOfKeys });
  }
}

/** In a transaction a script answers at once and is not repeated. */
export function runScript(
  client: RedisClient,
  name: ComposedName,
  args: readonly Argument[],
): Promise<unknown> {
  const run = (): Promise<unknown> => client.runCommand(commandOf(name), args as never);
  return client.isCluster ? untilSlotRests(run) : run();
}

function commandOf(name: string): string {
  return `mooring:${name}`;
}
