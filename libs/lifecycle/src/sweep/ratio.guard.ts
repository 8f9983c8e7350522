import type { Tallies } from './orphan.position.js';

/** So few may always go, however many that is of those that were asked about. */
const FEW = 20;

/**
 * Why so many orphans at once are not to be believed, if so: of one type, whose resolver may have gone wrong, or in all.
 */
export function judge(tallies: Tallies, maxRatio: number): string | undefined {
  const types = Object.entries(tallies);
  const all = types.reduce(
    (sum, [, { asked, doomed }]) => ({ asked: sum.asked + asked, doomed: sum.doomed + doomed }),
    { asked: 0, doomed: 0 },
  );
  for (const [of, { asked, doomed }] of [...types, ['all types', all] as const]) {
    if (doomed > Math.max(FEW, maxRatio * asked))
      return `${doomed} of ${asked} owners of ${of === 'all types' ? of : `type "${of}"`} are said to be gone, which is more than ${Math.round(maxRatio * 100)} %.`;
  }
  return undefined;
}
