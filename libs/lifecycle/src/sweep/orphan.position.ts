import type { ListPlace } from './owner.directory.js';

/** How many owners of each type were asked about, and how many of them are to go. */
export type Tallies = Readonly<Record<string, { readonly asked: number; readonly doomed: number }>>;

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
