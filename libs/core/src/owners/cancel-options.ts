import { InvalidJobError } from '../model/errors.js';

const MAX_TEXT = 500;
const MAX_ID_BYTES = 200;

export interface CancelOptions {
  readonly reason?: string;
  /** Who asked for it. */
  readonly by?: string;
  /** A name of the caller's for this cancel: the same one again answers the same receipt and ends nothing more. */
  readonly cancelId?: string;
  /** false: the owner goes on taking jobs. */
  readonly close?: boolean;
  /** When that happened which ends the owner, ms: an owner that was reopened later is left alone. */
  readonly happenedAt?: number;
  /** Answer when nothing of it runs any more, or when `waitFor` is over. */
  readonly wait?: 'drained';
  readonly waitFor?: number | string;
  /** Say what would be removed and stopped, and do nothing. */
  readonly dryRun?: boolean;
}

/** What a cancel leaves in the store is small. Throws when it makes no sense; nothing was written then. */
export function checkOptions({ reason = '', by = '', cancelId, happenedAt }: CancelOptions): void {
  for (const [what, text] of Object.entries({ reason, by })) {
    if (typeof text !== 'string' || text.length > MAX_TEXT)
      throw new InvalidJobError(`${what} is a text of at most ${MAX_TEXT} characters.`);
  }
  if (cancelId !== undefined && !isId(cancelId))
    throw new InvalidJobError(`cancelId is a text of 1 to ${MAX_ID_BYTES} bytes.`);
  if (happenedAt !== undefined && !Number.isSafeInteger(happenedAt))
    throw new InvalidJobError('happenedAt is a time in whole ms.');
}

function isId(text: unknown): boolean {
  return typeof text === 'string' && text !== '' && Buffer.byteLength(text) <= MAX_ID_BYTES;
}
