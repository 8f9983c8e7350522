import { defineKind, owner, type Owner } from '#lifecycle';
import { z } from 'zod';

const KEEP = { count: 20, failed: { count: 20 } };
const LeasePayload = z.strictObject({ leaseId: z.string() });

export const OWNER_TYPE = 'lease';

/** Makes the container of a lease. Done twice it is the same container, which has its name from the lease. */
export const provision = defineKind({
  name: 'containers.provision',
  queue: 'containers',
  payload: LeasePayload,
  attempts: 5,
  backoff: { type: 'exponential', delay: '1s', max: '10s' },
  timeout: '1m',
  // What it asked the engine for it waits for, unless that takes longer.
  grace: '2s',
  dedup: { strategy: 'skip' },
  keep: KEEP,
  artifacts: false,
  // A stranger's job in the place of a lease's own would end somebody else's lease.
  offered: false,
});

/**
 * Ends a lease when its time is over, or earlier when it is woken. It has a queue of its own: containers that do not let
 * themselves be stopped keep no others from being made.
 */
export const end = defineKind({
  name: 'containers.end',
  queue: 'container-ends',
  payload: LeasePayload,
  attempts: 10,
  backoff: { type: 'exponential', delay: '500ms', max: '10s' },
  timeout: '1m',
  dedup: { strategy: 'skip' },
  keep: KEEP,
  artifacts: false,
  offered: false,
});

export function leaseOwner(leaseId: string): Owner {
  return owner(OWNER_TYPE, leaseId);
}
