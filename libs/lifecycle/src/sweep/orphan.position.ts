import type { ListPlace } from './owner.directory.js';

/** Of owners of one type: how many were asked about, were said to be gone, and are to go, having been so before. */
export interface Tally {
  readonly asked: number;
  readonly gone: number;
  readonly doomed: number;
}

export type Tallies = Readonly<Record<string, Tally>>;

/** Where a sweep of orphans is: asking, at a place in the list; or removing whom it has found. */
export type Position =
  | { readonly phase: 'ask'; readonly from?: ListPlace; readonly tallies: Tallies }
  | { readonly phase: 'remove'; readonly cursor: string };

export function readPosition(text: string | undefined): Position {
  return text === undefined ? { phase: 'ask', tallies: {} } : (JSON.parse(text) as Position);
}

export function writePosition(position: Position): string {
  return JSON.stringify(position);
}
