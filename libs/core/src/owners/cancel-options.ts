import { timeOf } from '../backend/owned-options.js';
import { durationMs } from '../model/duration.js';
import { InvalidJobError } from '../model/errors.js';

const MAX_TEXT = 500;
const MAX_ID_BYTES = 200;

export interface CancelOptions {
  readonly reason?: string;
  /** Who asked for it. */
  readonly by?: string;
  /** A name of the caller's for this cancel: the same one again answers the same receipt and ends nothing more. */
  readonly cancelId?: string;
  /** false keeps the owner open. */
  readonly close?: boolean;
  /** The time of the event that ends the owner, ms. An owner that was reopened later is left alone. */
  readonly happenedAt?: number;
  /** When the cancel was asked for, ms by the store's clock, if it comes later. Jobs with a later `askedAt` are not refused for it. */
  readonly askedAt?: number;
  /** Answer when none of its jobs run any more, or after `waitFor`. */
  readonly wait?: 'drained';
  readonly waitFor?: number | string;
  /** Answer what would be removed and stopped, and write nothing. */
  readonly dryRun?: boolean;
}

const OPTIONS = ['reason', 'by', 'cancelId', 'close', 'happenedAt', 'askedAt', 'wait', 'waitFor', 'dryRun'];

/** Throws before anything is written. A misspelt option is refused: it could close an owner that was to stay open. */
export function checkOptions(options: CancelOptions): void {
  const unknown = Object.keys(options).find((name) => !OPTIONS.includes(name));
  if (unknown !== undefined)
    throw new InvalidJobError(`A cancel has no option "${unknown}"; it has ${OPTIONS.join(', ')}.`);
  const { reason = '', by = '', cancelId, close = true, happenedAt, askedAt, wait, waitFor } = options;
  if (typeof close !== 'boolean') throw new InvalidJobError('close is true or false.');
  if (wait !== undefined && wait !== 'drained')
    throw new InvalidJobError("wait is 'drained', or is left out.");
  if (waitFor !== undefined) durationMs('waitFor', waitFor);
  for (const [what, text] of Object.entries({ reason, by })) {
    if (typeof text !== 'string' || text.length > MAX_TEXT)
      throw new InvalidJobError(`${what} is a text of at most ${MAX_TEXT} characters.`);
  }
  const idBytes = typeof cancelId === 'string' ? Buffer.byteLength(cancelId) : 0;
  if (cancelId !== undefined && (idBytes < 1 || idBytes > MAX_ID_BYTES))
    throw new InvalidJobError(`cancelId is a text of 1 to ${MAX_ID_BYTES} bytes.`);
  if (happenedAt !== undefined && !Number.isSafeInteger(happenedAt))
    throw new InvalidJobError('happenedAt is a time in whole ms.');
  if (askedAt !== undefined) timeOf(askedAt);
}
