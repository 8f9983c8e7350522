import { InvalidJobError } from './errors.js';

const TYPE = /^[a-z][a-z0-9_-]{0,63}$/i;
const MAX_ID_BYTES = 512;
/** Half of a surrogate pair has no bytes of its own in UTF-8: two different ids, or keys, would become one. */
export const LONE_SURROGATE = /\p{Surrogate}/u;

/** What a job is for: a type and an id, written `trip:42`. */
export interface Owner {
  readonly type: string;
  readonly id: string;
}

export function owner(type: string, id: string): Owner {
  if (typeof type !== 'string' || !TYPE.test(type)) {
    throw new InvalidJobError(
      `The type of an owner is a word of letters, digits, - and _ (at most 64); got ${show(type)}.`,
    );
  }
  if (typeof id !== 'string' || id.length === 0 || Buffer.byteLength(id) > MAX_ID_BYTES) {
    throw new InvalidJobError(
      `The id of an owner is a string of 1 to ${MAX_ID_BYTES} bytes; got ${show(id)}.`,
    );
  }
  if (LONE_SURROGATE.test(id)) {
    throw new InvalidJobError(`The id of an owner holds half of a surrogate pair; got ${show(id)}.`);
  }
  return { type, id };
}

/** Reads `trip:42`. Everything after the first colon is the id. */
export function parseOwner(text: Owner | string): Owner {
  if (typeof text === 'object') return owner(text?.type, text?.id);
  const colon = typeof text === 'string' ? text.indexOf(':') : -1;
  if (colon < 1) throw new InvalidJobError(`An owner is written type:id, as in trip:42; got ${show(text)}.`);
  return owner(text.slice(0, colon), text.slice(colon + 1));
}

export function formatOwner({ type, id }: Owner): string {
  return `${type}:${id}`;
}

function show(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}
