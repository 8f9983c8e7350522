import type { RedisClient } from './redis-client.js';
import { bullRelease, readBullScripts } from './bullmq-texts.js';
import { compose, type ComposedScript } from './composer.js';
import { checkTexts } from './known-texts.js';
import { RECIPES, type ComposedName, type Recipe } from './recipes.js';

let composed: ReadonlyMap<ComposedName, ComposedScript> | undefined;

/** All composed scripts. They are the same for every queue of a process, and made once. Throws for an unknown release of BullMQ. */
export function composedScripts(): ReadonlyMap<ComposedName, ComposedScript> {
  if (!composed) {
    const bull = readBullScripts();
    checkTexts(new Set(Object.values(RECIPES).flatMap((recipe) => recipe.bull)), bull, bullRelease());
    composed = new Map(
      Object.entries(RECIPES).map(([name, recipe]: [string, Recipe]) => [
        name as ComposedName,
        compose(recipe, bull),
      ]),
    );
  }
  return composed;
}

/** Makes the composed scripts known to a client, before any pipeline of it is made: a pipeline knows the commands of its making. */
export function defineScripts(client: RedisClient): void {
  for (const [name, script] of composedScripts()) {
    const command = commandOf(name);
    if (!(command in client)) client.defineCommand(command, script);
  }
}

export function runScript(
  client: RedisClient,
  name: ComposedName,
  args: readonly (string | number | Buffer)[],
): Promise<unknown> {
  return client.runCommand(commandOf(name), args as never);
}

function commandOf(name: ComposedName): string {
  return `mooring:${name}`;
}
