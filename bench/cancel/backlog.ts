import { median } from '../harness/median.js';
import { medianWait } from '../harness/prober.js';
import type { Waited } from '../harness/prober.process.js';
import type { Cancelled, CancelStore, SideName } from './cancel.store.js';

export const JOBS = 100;
const SIZES = [10_000, 100_000, 300_000];
/** At this size the usual way needs more memory than most machines have, so only Mooring runs. */
const LARGE = 1_000_000;
/** Above this size the usual way is slow, and runs one round only. */
const LONG = 300_000;
/** How many a caller cancels in a round. */
const CANCELS: Record<SideName, number> = { ours: 6, usual: 1 };
const QUIET_MS = 500;

/** The cost of cancelling an owner with a hundred jobs while jobs of others wait: medians of the rounds. */
export interface UnderBacklog {
  readonly waiting: number;
  readonly quiet: Waited;
  readonly ours: Cost;
  readonly usual: Cost | undefined;
}

export interface Cost {
  readonly rounds: number;
  readonly ms: number;
  readonly rssMb: number;
  readonly heapMb: number;
  readonly stall: Waited;
}

export async function underBacklog(
  store: CancelStore,
  rounds: number,
  large: boolean,
): Promise<UnderBacklog[]> {
  const all: UnderBacklog[] = [];
  let waiting = 0;
  for (const size of large ? [...SIZES, LARGE] : SIZES) {
    await store.plain.add(size - waiting);
    waiting = size;
    const taken: Record<SideName, Cancelled[]> = { ours: [], usual: [] };
    const quiet: Waited[] = [];
    const usualRounds = size > LONG ? 0 : size === LONG ? 1 : Math.min(rounds, 3);
    for (let round = 0; round < rounds; round += 1) {
      quiet.push(await store.quiet(QUIET_MS));
      taken.ours.push(await once(store, 'ours'));
      if (round < usualRounds) taken.usual.push(await once(store, 'usual'));
    }
    all.push({
      waiting,
      quiet: medianWait(quiet),
      ours: costOf(taken.ours),
      usual: taken.usual.length > 0 ? costOf(taken.usual) : undefined,
    });
  }
  return all;
}

async function once(store: CancelStore, side: SideName): Promise<Cancelled> {
  const tripIds: string[] = [];
  while (tripIds.length < CANCELS[side]) tripIds.push(await store.trip(side, JOBS));
  return store.cancel(side, { tripIds, jobs: JOBS });
}

export function costOf(rounds: readonly Cancelled[]): Cost {
  const of = (figure: (one: Cancelled) => number): number => median(rounds.map(figure));
  return {
    rounds: rounds.length,
    ms: of(({ ms }) => ms),
    rssMb: of(({ rssMb }) => rssMb),
    heapMb: of(({ heapMb }) => heapMb),
    stall: medianWait(rounds.map(({ stall }) => stall)),
  };
}
