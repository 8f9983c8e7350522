import { InvalidJobError } from '../errors.js';
import { checkKey } from '../kinds/check-key.js';
import type { SlotOptions } from '../kinds/kind.js';

const MAX_LIMIT = 10_000;
/** The name of a deduplication key's slot holds one of these; so no other may. */
const CONTROL_CHARACTER = /\p{Cc}/u;

/** Throws when no slot can be of that key and limit. */
export function checkSlot({ key, limit }: SlotOptions): void {
  checkKey(key, 'slot.key');
  if (CONTROL_CHARACTER.test(key)) throw new InvalidJobError('slot.key holds a control character.');
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_LIMIT) {
    throw new InvalidJobError(`slot.limit is a whole number from 1 to ${MAX_LIMIT}.`);
  }
}

/**
 * The name of a slot in the store. Three spaces that never meet: `key` of kinds and of code that enqueues, `\0callers\0key` of
 * callers, and `owner\0digest` of deduplication (`slotOfKey`), which never begins with a control character.
 */
export function nameOfSlot({ key, space }: SlotOptions): string {
  return space === 'callers' ? `\0callers\0${key}` : key;
}
