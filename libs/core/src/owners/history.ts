import { readJobRef } from '../scripts/job-ref.js';

/** A job that was removed, and why. */
export interface HistoryEntry {
  readonly at: number;
  readonly reason: string;
  readonly queue: string;
  readonly id: string;
}

/** Reads a line that `history.lua` wrote: <time, ms> <reason> <queue>:<id> */
export function readHistory(line: string): HistoryEntry {
  const [at, reason, ...rest] = line.split(' ') as [string, string, ...string[]];
  return { at: Number(at), reason, ...readJobRef(rest.join(' ')) };
}
