import type { BenchStore } from './bench-store.js';
import { compared, inTurns, type Compared } from './compared.js';
import type { PerOwner } from './work.js';

const JOBS = 15_000;
const WARM_UP = 3_000;
/** The worker takes some more than it counts; what it counts last must not be short of jobs. */
const SPARE = 500;

const HANDLERS = [
  { ms: 0, name: 'no-op', target: { atLeast: 0.6, aim: 0.85 } },
  { ms: 1, name: '1 ms', target: { atLeast: 0.95 } },
  { ms: 10, name: '10 ms', target: {} },
];

/** Jobs processed a second, by one worker process at concurrency 50, of jobs that wait already. */
export async function processed(store: BenchStore, rounds: number): Promise<Compared[]> {
  const all: Compared[] = [];
  for (const { ms, name, target } of HANDLERS) {
    for (const perOwner of [1, 100] as PerOwner[]) {
      const rates = [];
      const cpu = [];
      for (let round = 0; round < rounds; round++) {
        const { ours, plain } = await inTurns(round, async (side) => {
          await store.empty();
          await store.enqueue(side, { count: WARM_UP + JOBS + SPARE, perOwner, batch: 1_000 });
          return store.process(side, ms, { warmUp: WARM_UP, count: JOBS });
        });
        rates.push({ ours: (JOBS / ours.ms) * 1_000, plain: (JOBS / plain.ms) * 1_000 });
        cpu.push({ ours: (ours.cpuMs / JOBS) * 1_000, plain: (plain.cpuMs / JOBS) * 1_000 });
      }
      all.push(
        compared(`process ${name}, ${perOwner} per owner`, 'jobs/s', rates, target),
        compared(`  worker's CPU a job`, 'µs', cpu),
      );
    }
  }
  return all;
}
