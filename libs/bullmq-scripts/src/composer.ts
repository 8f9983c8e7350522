import { readFileSync } from 'node:fs';
import { takeHelpersOut } from './helper-functions.js';
import type { BullScript } from './texts.js';

/** What a composed script is made of. */
export interface Recipe {
  /** Names of BullMQ's scripts that it calls. */
  readonly bull: readonly string[];
  /** Texts of the caller, in order; the last one is the script itself. */
  readonly own: readonly string[];
  /** The script of BullMQ in whose place it runs, and whose keys it takes. Others take one key. */
  readonly standsFor?: string;
  /** It adds to what the store holds: it is refused when the store's memory is full. */
  readonly needsRoom?: true;
  /** BullMQ's scripts in it may delete jobs. */
  readonly watchesRemovals?: true;
}

export interface ComposedScript {
  readonly numberOfKeys: number;
  readonly lua: string;
}

/** The Lua texts of a folder by their names. Each is read once. */
export function readTexts(folder: URL): (name: string) => string {
  const texts = new Map<string, string>();
  return (name) => {
    let text = texts.get(name);
    if (text === undefined) {
      text = readFileSync(new URL(`${name}.lua`, folder), 'utf8');
      texts.set(name, text);
    }
    return text;
  };
}

const aroundText = readTexts(new URL('./lua/', import.meta.url));

/**
 * One Lua text of BullMQ's own scripts, each as a function, and of the caller's around them. What makes room in the store, or keeps a
 * run alive, is allowed to run when the store's memory is full.
 */
export function compose(
  recipe: Recipe,
  bull: ReadonlyMap<string, BullScript>,
  ownText: (name: string) => string,
): ComposedScript {
  const flags = recipe.needsRoom ? '' : '#!lua flags=allow-oom\n';
  const around = ['whole-slot', 'environment', ...(recipe.watchesRemovals ? ['watch-removals'] : [])];
  const wrapped = recipe.bull
    .filter((name) => bull.has(name))
    .map((name) => wrap(name, scriptOf(bull, name).lua));
  const lua = [...around.map(aroundText), ...wrapped, ...recipe.own.map(ownText)].join('\n');
  const numberOfKeys = recipe.standsFor ? scriptOf(bull, recipe.standsFor).numberOfKeys : 1;
  return { numberOfKeys, lua: flags + lua };
}

/** A script of BullMQ's that is not composed, for queues with a hash tag. */
export function guard({ numberOfKeys: keys, lua }: BullScript): ComposedScript {
  return { numberOfKeys: keys, lua: `${aroundText('whole-slot')}\n${lua}` };
}

/** `environment.lua` makes the function when it is first called. */
function wrap(name: string, lua: string): string {
  const { helpers, main } = takeHelpersOut(lua, name);
  return `makers.${name} = function()\n${helpers}\nreturn function(KEYS, ARGV)\n${main}\nend\nend\n`;
}

function scriptOf(bull: ReadonlyMap<string, BullScript>, name: string): BullScript {
  const script = bull.get(name);
  if (!script) throw new Error(`The installed BullMQ has no script "${name}".`);
  return script;
}
