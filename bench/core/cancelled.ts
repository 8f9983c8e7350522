import { median } from '../harness/median.js';
import { medianWait } from '../harness/prober.js';
import type { Waited } from '../harness/prober.process.js';
import { CancelStore, type OneCancel } from './cancel-store.js';

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
export async function cancels(rounds: number, large: boolean): Promise<Cancels[]> {
  const store = await CancelStore.start();
  const all: Cancels[] = [];
  let waiting = 0;
  try {
    for (const size of large ? [...SIZES, LARGE] : SIZES) {
      await store.addOthers(size - waiting);
      waiting = size;
      all.push(await measure(store, { waiting, jobs: FEW, times: TIMES }, rounds));
      const many = { waiting, jobs: MANY, times: 1 };
      all.push(await measure(store, many, Math.min(rounds, MANY_ROUNDS)));
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

async function measure(
  store: CancelStore,
  { waiting, jobs, times }: Asked,
  rounds: number,
): Promise<Cancels> {
  const taken: OneCancel[] = [];
  const quiet: Waited[] = [];
  for (let round = 0; round < rounds; round += 1) {
    quiet.push(await store.quiet(QUIET_MS));
    taken.push(await store.cancel(jobs, times));
  }
  const waits = taken.map(({ waited }) => waited);
  return {
    waiting,
    jobs,
    ms: median(taken.map(({ ms }) => ms)),
    storeUs: median(taken.map(({ storeUs }) => storeUs)),
    waited: medianWait(waits),
    longestStallMs: Math.max(...waits.map(({ busy }) => busy)),
    atRest: medianWait(quiet),
  };
}
