import { WrongUsage } from './problems.js';

const TYPE = /^[a-z][a-z0-9_-]{0,63}$/i;
const MAX_ID_BYTES = 512;

export interface OwnerName {
  readonly type: string;
  readonly id: string;
}

/** What is wrong with an owner written `trip:42`, or the owner. Everything after the first colon is the id. */
export function readOwner(text: string): OwnerName | { readonly wrong: string } {
  const colon = text.indexOf(':');
  if (colon < 1) return { wrong: `an owner is written type:id, as in trip:42; got "${text}"` };
  return checkOwner(text.slice(0, colon), text.slice(colon + 1));
}

/** The owner that a command's words name: `trip 42`, or `trip:42` in one. */
export function ownerOfWords(words: readonly string[]): OwnerName {
  const [first, second, ...rest] = words;
  if (first === undefined) throw new WrongUsage('Say whose: a type and an id, as in trip 42 or trip:42.');
  if (rest.length > 0) {
    throw new WrongUsage(
      `One owner at a time: "${rest.join(' ')}" is too much. An id with blanks is quoted.`,
    );
  }
  const read = second === undefined ? readOwner(first) : checkOwner(first, second);
  if ('wrong' in read) throw new WrongUsage(`${capital(read.wrong)}.`);
  return read;
}

export function ownerPath({ type, id }: OwnerName): string {
  return `/v1/owners/${encodeURIComponent(type)}/${encodeURIComponent(id)}`;
}

export function formatOwner({ type, id }: OwnerName): string {
  return `${type}:${id}`;
}

function checkOwner(type: string, id: string): OwnerName | { readonly wrong: string } {
  if (!TYPE.test(type)) {
    return { wrong: `an owner's type is a word of letters, digits, - and _ (at most 64); got "${type}"` };
  }
  if (id === '' || Buffer.byteLength(id) > MAX_ID_BYTES) {
    return { wrong: `an owner's id has 1 to ${MAX_ID_BYTES} bytes; got ${Buffer.byteLength(id)}` };
  }
  // In an address both mean another place, however they are encoded: the call would reach something else.
  if (id === '.' || id === '..') return { wrong: `the id "${id}" cannot be written in an address` };
  return { type, id };
}

function capital(text: string): string {
  return text[0]!.toUpperCase() + text.slice(1);
}
