import { InvalidJobError } from '#core';

/** A cursor as callers see it: any text that a list continues behind. */
export function toCursor(place: string): string {
  return Buffer.from(place).toString('base64url');
}

/** @throws InvalidJobError for what is no cursor of such a list */
export function fromCursor(cursor: string, form: RegExp): string {
  const place = Buffer.from(cursor, 'base64url').toString();
  if (toCursor(place) === cursor && form.test(place)) return place;
  throw notACursor();
}

export function notACursor(): InvalidJobError {
  return new InvalidJobError('cursor: expected the cursor of the page before, as it was given.');
}
