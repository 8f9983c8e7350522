import type { Tallies, Tally } from './orphan.position.js';

/** So few may always be gone, however many that is of those that were asked about. */
const FEW = 20;

/** Why nothing is to be removed. */
export interface Doubt {
  readonly why: string;
  /** So many have been said to be gone twice that somebody is to look. Otherwise they are asked about once more first. */
  readonly trips: boolean;
}

/**
 * Whether so many orphans at once are to be believed: of one type, whose resolver may have gone wrong, and in all. All that
 * are said to be gone count, also those whose turn comes later: else a wrong resolver would end a few each time.
 */
export function judge(tallies: Tallies, maxRatio: number): Doubt | undefined {
  const types = Object.entries(tallies).map(([type, tally]) => [`of type "${type}"`, tally] as const);
  const all = { asked: sum(tallies, 'asked'), gone: sum(tallies, 'gone'), doomed: sum(tallies, 'doomed') };
  const tooMany = [...types, ['in all', all] as const].flatMap(([which, { asked, gone, doomed }]) => {
    const most = Math.max(FEW, maxRatio * asked);
    if (gone <= most) return [];
    const why = `${gone} of ${asked} owners ${which} are said to be gone, which is more than ${Math.round(maxRatio * 100)} %.`;
    return [{ why, trips: doomed > most }];
  });
  return tooMany.find(({ trips }) => trips) ?? tooMany[0];
}

/** How many are said to be gone and have to be seen so once more. */
export function awaiting(tallies: Tallies): number {
  return sum(tallies, 'gone') - sum(tallies, 'doomed');
}

export function sum(tallies: Tallies, what: keyof Tally): number {
  return Object.values(tallies).reduce((total, tally) => total + tally[what], 0);
}
