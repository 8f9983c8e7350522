import type { Job, Queue } from 'bullmq';
import type { MooredBackend } from '../backend/moored-backend.js';
import { ownerNames } from '../backend/owned-options.js';
import type { OwnersOf } from '../model/run-options.js';

const PAGE = 100;
const WAITING = ['waiting', 'prioritized', 'delayed', 'waiting-children'] as const;

/** What became of the jobs that waited in a queue without owners. */
export interface Adoption {
  /** Jobs that a cancel of their owner now ends. */
  readonly adopted: number;
  /** Jobs whose owner is closed: they were removed. */
  readonly ended: number;
  /** Jobs for which `ownersOf` threw or named no valid owners: they run as in plain BullMQ. */
  readonly unreadable: number;
}

/** Gives owners to the jobs that wait. It may be repeated, and run beside producers and workers. */
export async function adoptWaiting(
  queue: Queue,
  backend: MooredBackend,
  ownersOf: OwnersOf,
): Promise<Adoption> {
  const total = { adopted: 0, ended: 0, unreadable: 0 };
  for (const state of WAITING) {
    let from = 0;
    for (;;) {
      // The newest first: a job that a worker takes meanwhile, from the other end, moves no other to an earlier page.
      const page = await queue.getJobs([state], from, from + PAGE - 1, false);
      if (page.length === 0) break;
      const { requests, unreadable } = readPage(page, ownersOf);
      const [adopted, ended] = await backend.adoptWaiting(requests);
      total.adopted += adopted;
      total.ended += ended;
      total.unreadable += unreadable;
      from += PAGE - ended;
    }
  }
  return total;
}

/** Pairs of an id and its owners, joined by |; nothing for a job without. */
function readPage(
  page: readonly (Job | undefined)[],
  ownersOf: OwnersOf,
): { requests: string[]; unreadable: number } {
  const requests: string[] = [];
  let unreadable = 0;
  for (const job of page) {
    if (!job?.id) continue;
    try {
      const owners = job.opts.owners ?? ownersOf(job);
      requests.push(job.id, owners.length > 0 ? ownerNames(owners).join('|') : '');
    } catch {
      unreadable += 1;
    }
  }
  return { requests, unreadable };
}
