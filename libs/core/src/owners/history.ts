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
  const ref = rest.join(' ');
  const colon = ref.indexOf(':');
  return { at: Number(at), reason, queue: ref.slice(0, colon), id: ref.slice(colon + 1) };
}
