import type { Contest } from './contest.js';
import type { SideName } from './sides.js';

const SIZES = [1_000, 10_000, 100_000];
const LARGE = [300_000, 1_000_000];
const JOBS = 2_000;
const WARM_UP = 1_000;

export const BACKLOG = /^(?:enqueue|process), (\d+) waiting$/;

/**
 * What a job costs while others wait. Every side needs a store of its own here, which keeps its backlog: the sides can take
 * turns all the same. As many jobs are added as are taken.
 */
export async function underBacklog(
  contest: Contest,
  sides: readonly SideName[],
  large: boolean,
): Promise<void> {
  let waiting = 0;
  for (const size of large ? [...SIZES, ...LARGE] : SIZES) {
    const missing = size - waiting;
    for (const side of sides) await contest.enqueue(side, { count: missing, perOwner: 1, batch: 1_000 });
    waiting = size;
    await enqueueAndTakeAgain(contest, sides, size);
  }
}

async function enqueueAndTakeAgain(
  contest: Contest,
  sides: readonly SideName[],
  size: number,
): Promise<void> {
  const count = WARM_UP + JOBS;
  const processed = new Map<SideName, { rate: number; workerCpu: number; storeCpu: number }[]>();
  await contest.askAsItIs(`enqueue, ${size} waiting`, sides, async (side) => {
    const added = await contest.spentOn(side, () =>
      contest.enqueue(side, { count, perOwner: 1, inFlight: 100 }),
    );
    const taken = await contest.spentOn(side, () =>
      contest.process(side, 0, { warmUp: WARM_UP, count: JOBS }),
    );
    const [one] = taken.done;
    const rounds = processed.get(side) ?? [];
    processed.set(side, rounds);
    rounds.push({
      rate: (JOBS / one!.ms) * 1_000,
      workerCpu: (one!.cpuMs / JOBS) * 1_000,
      storeCpu: (taken.storeMs / count) * 1_000,
    });
    return {
      rate: (count / added.done.ms) * 1_000,
      producerCpu: (added.done.cpuMs / count) * 1_000,
      storeCpu: (added.storeMs / count) * 1_000,
    };
  });
  contest.note(`process, ${size} waiting`, sides, processed);
}
