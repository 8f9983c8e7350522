import { InvalidJobError, type Slot } from '#core';
import { slotKeyOfCallers } from '#nestjs';

const MOST_BYTES = 512;

/** The Idempotency-Key of a request, apart from the same key of other callers. Undefined for a request without one. */
export function idempotencyKeyOf(caller: string, key: string | undefined): string | undefined {
  if (key === undefined) return undefined;
  if (key === '' || Buffer.byteLength(key) > MOST_BYTES)
    throw new InvalidJobError(`The Idempotency-Key is a text of 1 to ${MOST_BYTES} bytes.`);
  return `${caller}\0${key}`;
}

/** The slot that a caller asks for. Its key is apart from those of kinds. */
export function slotOfCallers({ key, ...terms }: Slot): Slot {
  return { key: slotKeyOfCallers(key), ...terms };
}
