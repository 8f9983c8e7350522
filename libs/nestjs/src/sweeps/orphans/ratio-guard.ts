/** Of owners of one type: how many have a known state, are gone, and are to be cancelled. */
export interface Tally {
  readonly asked: number;
  readonly gone: number;
  readonly candidates: number;
}

export type Tallies = Readonly<Record<string, Tally>>;

const NONE: Tally = { asked: 0, gone: 0, candidates: 0 };
/** A number of owners that may always be gone. */
const FEW = 20;

/** Why nothing is removed. */
export interface Doubt {
  readonly why: string;
  /** Too many have been gone twice: an operator has to look. Otherwise they are asked about once more first. */
  readonly trips: boolean;
}

/**
 * Doubts an answer by which too many owners are gone, of one type or in all: its resolver may be wrong. All that are gone count, also
 * those whose grace has not passed: otherwise a wrong resolver would end a few with each sweep.
 */
export function judge(tallies: Tallies, maxRatio: number): Doubt | undefined {
  const types = Object.entries(tallies).map(([type, tally]) => [`of type "${type}"`, tally] as const);
  const doubts = [...types, ['in all', total(tallies)] as const].flatMap(([which, each]) => {
    const { asked, gone, candidates } = each;
    const most = Math.max(FEW, maxRatio * asked);
    if (gone <= most) return [];
    const why = `${gone} of ${asked} owners ${which} are gone, which is more than ${Math.round(maxRatio * 100)} %.`;
    return [{ why, trips: candidates > most }];
  });
  return doubts.find(({ trips }) => trips) ?? doubts[0];
}

export function addTally(tallies: Tallies, type: string, tally: Tally): Tallies {
  return { ...tallies, [type]: plus(tallies[type] ?? NONE, tally) };
}

export function total(tallies: Tallies): Tally {
  return Object.values(tallies).reduce(plus, NONE);
}

function plus(a: Tally, b: Tally): Tally {
  return { asked: a.asked + b.asked, gone: a.gone + b.gone, candidates: a.candidates + b.candidates };
}
