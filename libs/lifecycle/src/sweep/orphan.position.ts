import type { ListPlace } from './owner.directory.js';

/** Of owners of one type: of how many something is known, how many are gone, and how many are to go, having been so before. */
export interface Tally {
  readonly asked: number;
  readonly gone: number;
  readonly doomed: number;
}

export const NONE: Tally = { asked: 0, gone: 0, doomed: 0 };

export type Tallies = Readonly<Record<string, Tally>>;

/** Where a sweep of orphans is: asking, at a place in the list; removing whom it has found; or looking for jobs that other
 * programs added, at which queue, of which it has read so many. */
export type Position =
  | { readonly phase: 'ask'; readonly from?: ListPlace; readonly tallies: Tallies }
  | { readonly phase: 'remove'; readonly cursor: string; readonly judgedAt: number }
  | { readonly phase: 'foreign'; readonly queue: number; readonly read?: number };

export function readPosition(text: string | undefined): Position {
  return text === undefined ? { phase: 'ask', tallies: {} } : (JSON.parse(text) as Position);
}

export function writePosition(position: Position): string {
  return JSON.stringify(position);
}

export function add(tallies: Tallies, more: Tallies): Tallies {
  const sums: Record<string, Tally> = { ...tallies };
  for (const [type, { asked, gone, doomed }] of Object.entries(more)) {
    const before = sums[type] ?? NONE;
    sums[type] = {
      asked: before.asked + asked,
      gone: before.gone + gone,
      doomed: before.doomed + doomed,
    };
  }
  return sums;
}
