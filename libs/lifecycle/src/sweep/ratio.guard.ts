import type { Tallies, Tally } from './orphan.position.js';

/** So few may always be gone, however many that is of those that were asked about. */
const FEW = 20;

/**
 * Why so many orphans at once are not to be believed, if so: of one type, whose resolver may have gone wrong, or in all.
 * All that are said to be gone count, also those whose turn comes later: else a wrong resolver would end a few each time.
 */
export function judge(tallies: Tallies, maxRatio: number): string | undefined {
  const types = Object.entries(tallies).map(([type, tally]) => [`of type "${type}"`, tally] as const);
  const all = { asked: sum(tallies, 'asked'), gone: sum(tallies, 'gone') };
  for (const [which, { asked, gone }] of [...types, ['in all', all] as const]) {
    if (gone > Math.max(FEW, maxRatio * asked))
      return `${gone} of ${asked} owners ${which} are said to be gone, which is more than ${Math.round(maxRatio * 100)} %.`;
  }
  return undefined;
}

export function sum(tallies: Tallies, what: keyof Tally): number {
  return Object.values(tallies).reduce((total, tally) => total + tally[what], 0);
}
