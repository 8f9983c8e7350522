import type { PerOwner } from './work.js';
import type { Answer, Contest } from './contest.js';
import type { Order } from './producer.process.js';
import { sidesAsked, type SideName } from './sides.js';

const JOBS = 10_000;
/** Fewer, as each waits for the one before it. */
const JOBS_ALONE = 3_000;
const BOTH: readonly PerOwner[] = [1, 100];

export async function enqueueOneByOne(contest: Contest): Promise<void> {
  for (const perOwner of BOTH)
    await ask(contest, `enqueue one by one, ${perOwner} an owner`, { perOwner, inFlight: 100 });
}

export function enqueueAlone(contest: Contest): Promise<void> {
  return ask(contest, 'enqueue, one in flight', { perOwner: 1, inFlight: 1 }, JOBS_ALONE);
}

export async function enqueueBatches(contest: Contest): Promise<void> {
  for (const perOwner of BOTH)
    await ask(contest, `enqueue 1000 a call, ${perOwner} an owner`, { perOwner, batch: 1_000 });
}

export function enqueueWithDedup(contest: Contest): Promise<void> {
  return ask(contest, 'enqueue one by one, dedup', { perOwner: 1, inFlight: 100, extra: 'dedup' });
}

export function enqueueWithSlots(contest: Contest): Promise<void> {
  return ask(contest, 'enqueue one by one, slots', { perOwner: 1, inFlight: 100, extra: 'free slots' });
}

function ask(contest: Contest, question: string, how: Omit<Order, 'count'>, count = JOBS): Promise<void> {
  return contest.ask(question, sidesAsked(contest.sides, how), (side) =>
    enqueue(contest, side, { ...how, count }),
  );
}

async function enqueue(contest: Contest, side: SideName, order: Order): Promise<Answer> {
  const { done, storeMs } = await contest.spentOn(side, () => contest.enqueue(side, order));
  return {
    rate: (order.count / done.ms) * 1_000,
    producerCpu: (done.cpuMs / order.count) * 1_000,
    storeCpu: (storeMs / order.count) * 1_000,
  };
}
