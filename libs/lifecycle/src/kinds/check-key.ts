import { InvalidJobError } from '../errors.js';
import { HALF_A_CHARACTER } from './owner.js';

const MAX_KEY_BYTES = 512;

/** Throws when it is no key that a caller may name. */
export function checkKey(key: unknown, what: string): void {
  if (typeof key !== 'string' || key === '' || Buffer.byteLength(key) > MAX_KEY_BYTES) {
    throw new InvalidJobError(`${what} is a string of 1 to ${MAX_KEY_BYTES} bytes.`);
  }
  if (HALF_A_CHARACTER.test(key)) throw new InvalidJobError(`${what} holds half of a surrogate pair.`);
}
