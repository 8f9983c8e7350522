import { Script } from '#scripts';
import { readFileSync } from 'node:fs';

const FOLDER = new URL('scripts/', import.meta.url);

/** Reads a script and the files it includes. */
function read(name: string): Script {
  const text = (file: string): string => readFileSync(new URL(`${file}.lua`, FOLDER), 'utf8');
  return new Script(text(name).replace(/^--- @include (\w+)$/gm, (_, piece: string) => text(piece)));
}

export const scripts = {
  create: read('create'),
  offer: read('offer'),
  accept: read('accept'),
  decline: read('decline'),
  pass: read('pass'),
  finish: read('finish'),
  driver: read('driver'),
  look: read('look'),
  due: read('due'),
  'mark-checked': read('mark-checked'),
  away: read('away'),
  'mark-withdrawn': read('mark-withdrawn'),
};
