import { readFileSync } from 'node:fs';
import type { BullScript } from './bullmq-texts.js';
import { takeHelpersOut } from './helper-functions.js';
import type { Recipe } from './recipes.js';

export interface ComposedScript {
  readonly numberOfKeys: number;
  readonly lua: string;
}

/**
 * One Lua text of BullMQ's own scripts, each as a function, and of ours around them. What makes room in the store, or keeps a run
 * alive, is allowed to run when the store's memory is full.
 */
export function compose(recipe: Recipe, bull: ReadonlyMap<string, BullScript>): ComposedScript {
  const flags = recipe.needsRoom ? '' : '#!lua flags=allow-oom\n';
  const around = ['whole-slot', 'environment', ...(recipe.watchesRemovals ? ['watch-removals'] : [])];
  const wrapped = recipe.bull
    .filter((name) => bull.has(name))
    .map((name) => wrap(name, scriptOf(bull, name).lua));
  const lua = [...around.map(ownText), ...wrapped, ...recipe.own.map(ownText)].join('\n');
  const numberOfKeys = recipe.standsFor ? scriptOf(bull, recipe.standsFor).numberOfKeys : 1;
  return { numberOfKeys, lua: flags + lua };
}

/** A script of BullMQ's that is not composed, for queues with a hash tag. */
export function guard({ numberOfKeys: keys, lua }: BullScript): ComposedScript {
  return { numberOfKeys: keys, lua: `${ownText('whole-slot')}\n${lua}` };
}

/** `environment.lua` makes the function when it is first called. */
function wrap(name: string, lua: string): string {
  const { helpers, main } = takeHelpersOut(lua);
  return `makers.${name} = function()\n${helpers}\nreturn function(KEYS, ARGV)\n${main}\nend\nend\n`;
}

function scriptOf(bull: ReadonlyMap<string, BullScript>, name: string): BullScript {
  const script = bull.get(name);
  if (!script) throw new Error(`The installed BullMQ has no script "${name}".`);
  return script;
}

const texts = new Map<string, string>();

function ownText(name: string): string {
  let text = texts.get(name);
  if (text === undefined) {
    text = readFileSync(new URL(`./lua/${name}.lua`, import.meta.url), 'utf8');
    texts.set(name, text);
  }
  return text;
}
