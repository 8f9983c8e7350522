import { median } from '../harness/median.js';
import type { BenchStore } from './bench-store.js';
import { SIDES, type SideName } from './work.js';

const SIZES = [1_000, 10_000, 100_000];
const LARGE = 300_000;
const JOBS = 2_000;
const WARM_UP = 1_000;
/** How much dearer a job may be under the largest backlog than under the smallest: this much is noise. */
const NOISE = 1.5;

/** The cost of a job at a given backlog. */
export interface Backlog {
  readonly side: SideName;
  readonly waiting: number;
  /** The caller's time, and the store's CPU, of one job. */
  readonly enqueueUs: number;
  readonly enqueueStoreUs: number;
  readonly processUs: number;
  readonly processStoreUs: number;
  readonly callerRssMb: number;
}

/** Whether enqueuing and beginning cost the same however many jobs wait. */
export async function backlog(store: BenchStore, rounds: number, large: boolean): Promise<Backlog[]> {
  const all: Backlog[] = [];
  for (const side of SIDES) {
    await store.empty();
    let waiting = 0;
    for (const size of large ? [...SIZES, LARGE] : SIZES) {
      await store.enqueue(side, { count: size - waiting, perOwner: 1, batch: 1_000 });
      const taken: Measured[] = [];
      for (let round = 0; round < rounds; round++) taken.push(await measured(store, side));
      const of = (figure: (one: Measured) => number): number => median(taken.map(figure));
      all.push({
        side,
        waiting: size,
        enqueueUs: of((one) => one.enqueueUs),
        enqueueStoreUs: of((one) => one.enqueueStoreUs),
        processUs: of((one) => one.processUs),
        processStoreUs: of((one) => one.processStoreUs),
        callerRssMb: of((one) => one.callerRssMb),
      });
      waiting = size;
    }
  }
  return all;
}

export function missedBacklog(all: readonly Backlog[]): string[] {
  const ours = all.filter(({ side }) => side === 'ours');
  const [least, most] = [ours[0]!, ours.at(-1)!];
  const grows = (figure: (one: Backlog) => number): boolean => figure(most) > figure(least) * NOISE;
  return [
    ...(grows((one) => one.enqueueStoreUs) ? ['enqueue that costs the store the same at any backlog'] : []),
    ...(grows((one) => one.processStoreUs) ? ['begin that costs the store the same at any backlog'] : []),
  ];
}

type Measured = Omit<Backlog, 'side' | 'waiting'>;

/** As many are added as are taken, so that the backlog stays what it is. */
async function measured(store: BenchStore, side: SideName): Promise<Measured> {
  const count = WARM_UP + JOBS;
  const start = await store.cpuMs();
  const { ms, rssMb } = await store.enqueue(side, { count, perOwner: 1, inFlight: 100 });
  const between = await store.cpuMs();
  const taken = await store.process(side, 0, { warmUp: WARM_UP, count: JOBS });
  const end = await store.cpuMs();
  return {
    enqueueUs: (ms / count) * 1_000,
    enqueueStoreUs: ((between - start) / count) * 1_000,
    processUs: (taken.ms / JOBS) * 1_000,
    processStoreUs: ((end - between) / count) * 1_000,
    callerRssMb: rssMb,
  };
}
