import type { LifecycleOptions } from '#lifecycle';
import { runScript as run, Script } from '#scripts';
import { readFileSync } from 'node:fs';

const NAMES = [
  'ask',
  'begin',
  'claim',
  'forget',
  'gone',
  'join',
  'noted',
  'record',
  'refused',
  'remember',
  'settled',
  'strike',
  'take',
] as const;

export type ScriptName = (typeof NAMES)[number];

const scripts = new Map(NAMES.map((name) => [name, new Script(scriptText(name))]));

/** Runs one of our scripts. */
export function runScript(
  redis: LifecycleOptions['redis'],
  name: ScriptName,
  keys: readonly string[],
  args: readonly (string | number)[],
): Promise<unknown> {
  return run(redis, scripts.get(name)!, keys, args);
}

/** A script with the pieces that it includes. */
export function scriptText(name: ScriptName): string {
  return read(name).replace(/^--- @include (\w+)$/gm, (_, piece: string) => read(piece));
}

function read(name: string): string {
  return readFileSync(new URL(`scripts/${name}.lua`, import.meta.url), 'utf8');
}
