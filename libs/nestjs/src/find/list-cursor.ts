import { InvalidJobError } from '#core';
import { createHash } from 'node:crypto';
import type { JobFilter } from './job-filter.js';
import { notACursor, toCursor } from './page-cursor.js';

/** Where a list of jobs continues. */
export interface ListCursor {
  /** The jobs down to this place in the order of acceptance were on earlier pages. */
  readonly below?: string | undefined;
  /** For a list that is too long to be read for each page: where each of its sources continues, by their names. */
  readonly places?: Readonly<Record<string, string>> | undefined;
  /** Whether the owner's record is among the sources, in place of the queues. */
  readonly isOwned?: boolean | undefined;
  /** Whether an earlier page had jobs. */
  readonly hasFound?: boolean | undefined;
}

interface StoredCursor {
  readonly f: string;
  readonly b?: string;
  readonly p?: Record<string, string>;
  readonly o?: boolean;
  readonly h?: boolean;
}

export function writeCursor({ below, places, isOwned, hasFound }: ListCursor, filter: JobFilter): string {
  const stored = { f: nameOf(filter), b: below, p: places, o: isOwned, h: hasFound };
  return toCursor(JSON.stringify(stored));
}

/** @throws InvalidJobError for what is no cursor, and for that of a list with other filters */
export function readCursor(text: string | undefined, filter: JobFilter): ListCursor {
  if (text === undefined) return {};
  const stored = parse(text);
  if (!isCursor(stored)) throw notACursor();
  if (stored.f !== nameOf(filter))
    throw new InvalidJobError(
      'cursor: it is that of a list with other filters. Keep them from page to page.',
    );
  return { below: stored.b, places: stored.p, isOwned: stored.o, hasFound: stored.h };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(Buffer.from(text, 'base64url').toString());
  } catch {
    return undefined;
  }
}

const TIME = /^\d{4}-\d\d-\d\dT[\d:.]{12}Z /;

function isCursor(value: unknown): value is StoredCursor {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const { f, b, p, o, h } = value as Record<string, unknown>;
  const isBelow = b === undefined || (typeof b === 'string' && TIME.test(b));
  return typeof f === 'string' && isBelow && isPlaces(p) && [o, h].every(isFlag);
}

function isFlag(value: unknown): boolean {
  return value === undefined || typeof value === 'boolean';
}

function isPlaces(value: unknown): boolean {
  if (value === undefined) return true;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  return Object.entries(value).every(([source, place]) => isPlaceOf(source.split('/')[0]!, place));
}

/** A place goes to a script, which trusts its form. */
function isPlaceOf(source: string, place: unknown): boolean {
  const form = FORMS[source];
  return form !== undefined && typeof place === 'string' && form.test(place);
}

const ENTRY_OF_SET = /^\d{1,17}(\.\d{1,6})? [^]+$/;
const ENTRY_OF_LIST = /^\d{1,15} \d{1,15} [^]+$/;

const FORMS: Readonly<Record<string, RegExp>> = {
  wait: ENTRY_OF_LIST,
  paused: ENTRY_OF_LIST,
  active: ENTRY_OF_LIST,
  prioritized: /^\d{1,10}$/,
  'waiting-children': ENTRY_OF_SET,
  delayed: ENTRY_OF_SET,
  completed: ENTRY_OF_SET,
  failed: ENTRY_OF_SET,
  removed: ENTRY_OF_SET,
  history: ENTRY_OF_SET,
  owner: TIME,
};

/** A short name of the filters. */
function nameOf({ queue, kind, state, owner, error, within }: JobFilter): string {
  const filters = [queue, kind, state, owner, error].map((each) => each ?? null);
  const text = JSON.stringify(within ? [...filters, within] : filters);
  return createHash('sha256').update(text).digest('base64url').slice(0, 8);
}
