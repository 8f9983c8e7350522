import type { BriefJob } from '../find/listed-job.js';

/** Jobs of a kind that failed with the same error, or that have none. */
export interface JobGroup {
  readonly kind: string;
  /** The first line of its text. */
  readonly error: string | null;
  readonly count: number;
}

/** More groups are not counted: errors may all differ, by an id for instance. */
const MOST_COUNTED = 100;
const MOST_SHOWN = 10;
const MOST_LETTERS = 200;

export function withCounted(groups: readonly JobGroup[], jobs: readonly BriefJob[]): JobGroup[] {
  const counted = new Map(groups.map((group) => [nameOf(group), group]));
  for (const { kind, error } of jobs) {
    const one: JobGroup = { kind, error: error && firstLineOf(error), count: 1 };
    const name = nameOf(one);
    const known = counted.get(name);
    if (known) counted.set(name, { ...known, count: known.count + 1 });
    else if (counted.size < MOST_COUNTED) counted.set(name, one);
  }
  return [...counted.values()];
}

export function largestOf(groups: readonly JobGroup[]): JobGroup[] {
  return groups.toSorted((a, b) => b.count - a.count).slice(0, MOST_SHOWN);
}

function firstLineOf(text: string): string {
  return text.split('\n', 1)[0]!.slice(0, MOST_LETTERS);
}

function nameOf({ kind, error }: JobGroup): string {
  return `${kind} ${error ?? ''}`;
}
