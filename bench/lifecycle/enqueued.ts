import type { BenchStore } from './bench-store.js';
import { compared, inTurns, type Compared } from './compared.js';
import type { Order } from './producer.process.js';
import type { PerOwner } from './work.js';

const JOBS = 10_000;
const TARGET = { atLeast: 0.7, aim: 0.9 };

const WAYS: readonly (readonly [string, Omit<Order, 'count' | 'perOwner'>])[] = [
  ['one by one, 100 in flight', { inFlight: 100 }],
  ['in batches of 1000', { batch: 1_000 }],
];

/** Jobs enqueued a second. Round 0 warms up. */
export async function enqueued(store: BenchStore, rounds: number): Promise<Compared[]> {
  const all: Compared[] = [];
  for (const [way, how] of WAYS) {
    for (const perOwner of [1, 100] as PerOwner[]) {
      const rates = [];
      const cpu = [];
      for (let round = 0; round <= rounds; round++) {
        const { ours, plain } = await inTurns(round, async (side) => {
          await store.empty();
          return store.enqueue(side, { count: JOBS, perOwner, ...how });
        });
        if (round === 0) continue;
        rates.push({ ours: (JOBS / ours.ms) * 1_000, plain: (JOBS / plain.ms) * 1_000 });
        cpu.push({ ours: (ours.cpuMs / JOBS) * 1_000, plain: (plain.cpuMs / JOBS) * 1_000 });
      }
      const what = `${way}, ${perOwner} per owner`;
      all.push(
        compared(`enqueue ${what}`, 'jobs/s', rates, TARGET),
        compared(`  caller's CPU a job`, 'µs', cpu),
      );
    }
  }
  return all;
}
