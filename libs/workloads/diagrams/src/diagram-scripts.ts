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

/** Runs a script of this workload. */
export function runScript(
  redis: LifecycleOptions['redis'],
  name: ScriptName,
  keys: readonly string[],
  args: readonly (string | number)[],
): Promise<unknown> {
  return run(redis, scripts.get(name)!, keys, args);
}

/** The text of a script with the files it includes. */
export function scriptText(name: ScriptName): string {
  return read(name).replace(/^--- @include (\w+)$/gm, (_, piece: string) => read(piece));
}

function read(name: string): string {
  return readFileSync(new URL(`scripts/${name}.lua`, import.meta.url), 'utf8');
}
