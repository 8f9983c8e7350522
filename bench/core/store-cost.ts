import type { Contest } from './contest.js';
import { sidesAsked, sidesThatRun } from './sides.js';

const JOBS = 20_000;

/** What a job costs the store: bytes while it waits, and CPU from its add to its end. */
export async function storeCost(contest: Contest): Promise<void> {
  for (const perOwner of [1, 100] as const) {
    await contest.ask(
      `store, ${perOwner} an owner`,
      sidesThatRun(sidesAsked(contest.sides, { perOwner })),
      async (side) => {
        const empty = await contest.memoryBytes(side);
        const { done: bytes, storeMs } = await contest.spentOn(side, async () => {
          await contest.enqueue(side, { count: JOBS, perOwner, inFlight: 100 });
          const waiting = await contest.memoryBytes(side);
          await contest.process(side, 0, { warmUp: 1, count: JOBS - 1 });
          return waiting - empty;
        });
        return { bytes: bytes / JOBS, storeCpu: (storeMs / JOBS) * 1_000 };
      },
    );
  }
}
