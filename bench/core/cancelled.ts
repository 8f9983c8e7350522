import { median } from '../harness/median.js';
import { medianWait } from '../harness/prober.js';
import type { Waited } from '../harness/prober.process.js';
import { CancelStore, type CancelSide, type OneCancel } from './cancel-store.js';

const SIZES = [300_000];
const LARGE = 1_000_000;
export const FEW = 100;
export const MANY = 50_000;
/** Owners that a caller cancels in one round of few jobs each. */
const TIMES = 5;
const MANY_ROUNDS = 3;
const QUIET_MS = 1_000;

/** Medians of the rounds, and the longest that another client was kept waiting in any of them. */
export interface Cancels {
  readonly side: CancelSide;
  readonly waiting: number;
  readonly jobs: number;
  readonly ms: number;
  readonly storeUs: number;
  readonly waited: Waited;
  readonly longestStallMs: number;
  /** While nothing was asked of the store. */
  readonly atRest: Waited;
}

/** Cancels of owners with a hundred jobs, and with very many, while jobs of other owners wait. */
export async function cancels(
  sides: readonly CancelSide[],
  rounds: number,
  large: boolean,
): Promise<Cancels[]> {
  const store = await CancelStore.start();
  const all: Cancels[] = [];
  let waiting = 0;
  try {
    for (const size of large ? [...SIZES, LARGE] : SIZES) {
      await store.addOthers(size - waiting);
      waiting = size;
      all.push(...(await inTurns(store, sides, { waiting, jobs: FEW, times: TIMES }, rounds)));
      const many = { waiting, jobs: MANY, times: 1 };
      all.push(...(await inTurns(store, ['core'], many, Math.min(rounds, MANY_ROUNDS))));
    }
  } finally {
    await store.stop();
  }
  return all;
}

interface Asked {
  readonly waiting: number;
  readonly jobs: number;
  readonly times: number;
}

async function inTurns(
  store: CancelStore,
  sides: readonly CancelSide[],
  { waiting, jobs, times }: Asked,
  rounds: number,
): Promise<Cancels[]> {
  const taken = new Map<CancelSide, OneCancel[]>(sides.map((side) => [side, []]));
  const quiet: Waited[] = [];
  for (let round = 0; round < rounds; round += 1) {
    quiet.push(await store.quiet(QUIET_MS));
    for (const side of round % 2 === 0 ? sides : sides.toReversed())
      taken.get(side)!.push(await store.cancel(side, jobs, times));
  }
  const atRest = medianWait(quiet);
  return sides.map((side) => {
    const mine = taken.get(side)!;
    const waits = mine.map(({ waited }) => waited);
    const ms = median(mine.map((one) => one.ms));
    const storeUs = median(mine.map((one) => one.storeUs));
    const longestStallMs = Math.max(...waits.map(({ busy }) => busy));
    return { side, waiting, jobs, ms, storeUs, waited: medianWait(waits), longestStallMs, atRest };
  });
}
