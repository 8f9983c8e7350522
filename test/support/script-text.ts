import { readFileSync } from 'node:fs';
import { root } from './process.js';

/** A script of ours as it is sent to the store, by its place: `cancel/cancel`. */
export function scriptText(path: string): string {
  return read(path).replace(/^--- @include (\w+)$/gm, (_, piece: string) => read(`scripts/${piece}`));
}

function read(path: string): string {
  return readFileSync(`${root}libs/lifecycle/src/${path}.lua`, 'utf8');
}
