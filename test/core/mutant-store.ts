import { existsSync, readFileSync } from 'node:fs';
import type { Redis } from 'ioredis';
import type { CoreMutant } from './core-mutants.js';

const FOLDERS = ['core/src/scripts/lua', 'bullmq-scripts/src/lua'];

/** The scripts of the core and how it makes them. */
export interface ScriptMaker<R> {
  readonly recipes: Readonly<Record<string, R>>;
  readonly make: (recipe: R) => { readonly lua: string; readonly numberOfKeys: number };
}

/** Defines mutated scripts on a client, under the names that the core uses for its commands. */
export function defineMutants<R>(
  redis: Redis,
  mutants: readonly CoreMutant[],
  { recipes, make }: ScriptMaker<R>,
): void {
  const texts = new Map<string, string>();
  for (const mutant of mutants)
    texts.set(mutant.file, mutate(texts.get(mutant.file) ?? read(mutant.file), mutant));
  for (const [name, recipe] of Object.entries(recipes)) {
    const { lua, numberOfKeys } = make(recipe);
    const files = [...texts.keys()].filter((file) => lua.includes(read(file)));
    if (files.length === 0) continue;
    const mutated = files.reduce((text, file) => replaceOnce(text, read(file), texts.get(file)!, file), lua);
    // The line of flags matters only for a full store, and an older store rejects it.
    redis.defineCommand(`mooring:${name}`, { lua: mutated.replace(/^#!lua.*\n/, ''), numberOfKeys });
  }
}

function read(file: string): string {
  const paths = FOLDERS.map((folder) => new URL(`../../libs/${folder}/${file}.lua`, import.meta.url));
  return readFileSync(
    paths.find((path) => existsSync(path))!,
    'utf8',
  );
}

function mutate(lua: string, { name, file, text, instead }: CoreMutant): string {
  return replaceOnce(lua, text, instead, `${file}.lua, in which "${name}"`);
}

function replaceOnce(whole: string, text: string, instead: string, where: string): string {
  const pieces = whole.split(text);
  if (pieces.length !== 2)
    throw new Error(`The text is ${pieces.length - 1} times, not once, in ${where}: ${text}`);
  return pieces.join(instead);
}
