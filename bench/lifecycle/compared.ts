import { median } from '../harness/median.js';
import { SIDES, type SideName } from './work.js';

/** One question asked of both sides, round after round: the medians, and the median of the rounds' ratios. */
export interface Compared {
  readonly question: string;
  readonly unit: string;
  readonly ours: number;
  readonly plain: number;
  /** Ours to plain, in the same round. */
  readonly ratio: number;
  readonly rounds: readonly { readonly ours: number; readonly plain: number }[];
  /** What the ratio has to be, and where it should end. */
  readonly atLeast?: number;
  readonly atMost?: number;
  readonly aim?: number;
}

export type Answers = Readonly<Record<SideName, number>>;

export function compared(
  question: string,
  unit: string,
  rounds: readonly Answers[],
  target: Pick<Compared, 'atLeast' | 'atMost' | 'aim'> = {},
): Compared {
  return {
    question,
    unit,
    ours: median(rounds.map(({ ours }) => ours)),
    plain: median(rounds.map(({ plain }) => plain)),
    ratio: median(rounds.map(({ ours, plain }) => ours / plain)),
    rounds,
    ...target,
  };
}

/** The sides take turns, and who is first changes: a busy minute of the machine is one for both. */
export async function inTurns<T>(
  round: number,
  ask: (side: SideName) => Promise<T>,
): Promise<Record<SideName, T>> {
  const answers: Partial<Record<SideName, T>> = {};
  for (const side of round % 2 === 0 ? SIDES : SIDES.toReversed()) answers[side] = await ask(side);
  return answers as Record<SideName, T>;
}
