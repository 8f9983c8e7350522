import { formatOwner, owner, type Owner } from '#core';
import { defineKind, type Fact } from '#nestjs';
import { z } from 'zod';

const KEEP = { count: 20, failed: { count: 20 } };
const LeasePayload = z.strictObject({ leaseId: z.string() });

export const OWNER_TYPE = 'lease';

/** Creates the container of a lease. Idempotent: the container's name is derived from the lease. */
export const provision = defineKind({
  name: 'containers.provision',
  queue: 'containers',
  payload: LeasePayload,
  attempts: 5,
  backoff: { type: 'exponential', delay: '1s', max: '10s' },
  timeout: '1m',
  // Time to wait for a create call in progress.
  grace: '2s',
  dedup: { strategy: 'skip' },
  keep: KEEP,
  // If callers could enqueue it, their job could take the place of a lease's own and end another caller's
  // lease.
  offered: false,
});

/**
 * Ends a lease at its deadline, or earlier when woken. It has its own queue, so that containers that hang on
 * stop do not delay new ones.
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
  offered: false,
});

export function leaseOwner(leaseId: string): Owner {
  return owner(OWNER_TYPE, leaseId);
}

/** What the journal tells of a lease. */
export function leaseFact(
  what: string,
  leaseId: string,
  status: 'done' | 'failed',
  facts: Extract<Fact, { event: 'workload' }>['facts'],
): Extract<Fact, { event: 'workload' }> {
  const ofLease = formatOwner(leaseOwner(leaseId));
  return { event: 'workload', what, owner: ofLease, status, facts: { leaseId, ...facts } };
}
