import type { BenchStore } from './bench-store.js';
import { compared, inTurns, type Compared } from './compared.js';
import type { PerOwner } from './work.js';

const JOBS = 20_000;
const TARGET = { atMost: 1.6 };

/** What a job costs the store: bytes while it waits, and CPU from enqueue to completed. */
export async function storeCost(store: BenchStore, rounds: number): Promise<Compared[]> {
  const all: Compared[] = [];
  for (const perOwner of [1, 100] as PerOwner[]) {
    const bytes = [];
    const cpu = [];
    for (let round = 0; round < rounds; round++) {
      const { ours, plain } = await inTurns(round, async (side) => {
        await store.empty();
        const [bytesBefore, cpuBefore] = [await store.memoryBytes(), await store.cpuMs()];
        await store.enqueue(side, { count: JOBS, perOwner, inFlight: 100 });
        const bytesWaiting = await store.memoryBytes();
        await store.process(side, 0, { warmUp: 1, count: JOBS - 1 });
        return {
          bytes: (bytesWaiting - bytesBefore) / JOBS,
          cpu: (((await store.cpuMs()) - cpuBefore) / JOBS) * 1_000,
        };
      });
      bytes.push({ ours: ours.bytes, plain: plain.bytes });
      cpu.push({ ours: ours.cpu, plain: plain.cpu });
    }
    all.push(
      compared(`store memory a waiting job, ${perOwner} per owner`, 'bytes', bytes, TARGET),
      compared(`store CPU a job, ${perOwner} per owner`, 'µs', cpu, TARGET),
    );
  }
  return all;
}
