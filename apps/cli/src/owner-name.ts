import { WrongUsage } from './problems.js';
import { quote } from './render/text.js';

const TYPE = /^[a-z][a-z0-9_-]{0,63}$/i;
const MAX_ID_BYTES = 512;

export interface OwnerName {
  readonly type: string;
  readonly id: string;
}

/** Parses `trip:42`. Everything after the first colon is the id. */
export function readOwner(text: string): OwnerName | { readonly wrong: string } {
  const colon = text.indexOf(':');
  if (colon < 1) return { wrong: `an owner must be written type:id, as in trip:42; got "${text}"` };
  return checkOwner(text.slice(0, colon), text.slice(colon + 1));
}

/** Parses the arguments `trip 42` or `trip:42`. */
export function ownerOfWords(words: readonly string[]): OwnerName {
  const [first, second, ...rest] = words;
  if (first === undefined) throw new WrongUsage('Name the owner by type and id, as in trip 42 or trip:42.');
  if (rest.length > 0) {
    throw new WrongUsage(
      `Name one owner only; "${rest.join(' ')}" is too much. Quote an id that contains spaces.`,
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

/** The owner as two shell arguments: type and id. */
export function ownerWords(owner: string): string {
  const read = readOwner(owner);
  return 'wrong' in read ? quote(owner) : `${read.type} ${quote(read.id)}`;
}

function checkOwner(type: string, id: string): OwnerName | { readonly wrong: string } {
  if (!TYPE.test(type)) {
    return {
      wrong: `an owner's type must be a word of letters, digits, - and _ (at most 64); got "${type}"`,
    };
  }
  if (id === '' || Buffer.byteLength(id) > MAX_ID_BYTES) {
    return { wrong: `an owner's id must have 1 to ${MAX_ID_BYTES} bytes; got ${Buffer.byteLength(id)}` };
  }
  // URLs resolve `.` and `..` even when encoded, so the call would reach another resource.
  if (id === '.' || id === '..') return { wrong: `the id "${id}" cannot be part of a URL` };
  return { type, id };
}

function capital(text: string): string {
  return text[0]!.toUpperCase() + text.slice(1);
}
