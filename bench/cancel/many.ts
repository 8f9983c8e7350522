import { medianWait } from '../harness/prober.js';
import type { Waited } from '../harness/prober.process.js';
import { costOf, type Cost } from './backlog.js';
import type { Cancelled, CancelStore } from './cancel.store.js';

export const MANY = 50_000;
const ROUNDS = 2;
const QUIET_MS = 3_000;

/** What cancelling one owner with very many jobs takes, and how long the store keeps others waiting meanwhile. */
export async function manyJobs(store: CancelStore): Promise<{ quiet: Waited; ours: Cost }> {
  const taken: Cancelled[] = [];
  const quiet: Waited[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const tripId = await store.trip('ours', MANY);
    quiet.push(await store.quiet(QUIET_MS));
    taken.push(await store.cancel('ours', { tripIds: [tripId], jobs: MANY }));
  }
  return { quiet: medianWait(quiet), ours: costOf(taken) };
}
