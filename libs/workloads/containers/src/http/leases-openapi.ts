import type { KnownProblem, RouteDescription } from '#http';

const LEASE_ID = '9c5e1b7a3d2f4c60';
const LEASE_PARAMETER = { id: ['The id of the lease.', LEASE_ID] } as const;
const LEASE = {
  id: LEASE_ID,
  state: 'provisioning',
  image: 'alpine',
  owner: 'trip:42',
  createdAt: '2026-03-01T09:30:00.000Z',
  expiresAt: '2026-03-01T09:45:00.000Z',
  containerId: null,
};
const RUNNING = { ...LEASE, state: 'running', containerId: '5d0f6a2b9c41' };
const UNKNOWN: KnownProblem = {
  code: 'UNKNOWN_LEASE',
  status: 404,
  detail: 'There is no lease of that id, or it has been over for more than a day.',
};
const OVER: KnownProblem = {
  code: 'LEASE_OVER',
  status: 409,
  detail: 'The lease is ended. Ask for a new one.',
};
const FULL: KnownProblem = {
  code: 'QUEUE_FULL',
  status: 429,
  detail: 'There are 100 leases, the limit. Try again in 30 s.',
};
const NOT_FOR_CLEANUP: KnownProblem = {
  code: 'NOT_FOR_CLEANUP',
  status: 409,
  detail: 'The lease is running: only one that is manual-cleanup is cleaned up by hand.',
};

export const LEASES = {
  ask: {
    id: 'createLease',
    summary: 'Lease a container',
    body: { image: 'alpine', duration: '15m', owner: 'trip:42' },
    answers: { 202: LEASE },
    problems: ['OWNER_CLOSED', 'IDEMPOTENCY_CONFLICT', FULL, 'OWNER_FULL'],
  },
  list: {
    id: 'listLeases',
    summary: 'List leases, newest first',
    parameters: { state: ['Leases in this state.', 'running'] },
    answers: { 200: { leases: [RUNNING], cursor: null } },
  },
  read: {
    id: 'readLease',
    summary: 'Read a lease',
    parameters: LEASE_PARAMETER,
    answers: { 200: RUNNING },
    problems: [UNKNOWN],
  },
  renew: {
    id: 'renewLease',
    summary: 'Hold a lease longer',
    parameters: LEASE_PARAMETER,
    body: { duration: '30m' },
    answers: { 200: { ...RUNNING, expiresAt: '2026-03-01T10:00:00.000Z' } },
    problems: [UNKNOWN, OVER],
  },
  end: {
    id: 'endLease',
    summary: 'End a lease',
    parameters: LEASE_PARAMETER,
    answers: { 202: { ...RUNNING, state: 'ending', endedBy: 'deleted', why: 'deleted by shop' } },
    problems: [UNKNOWN],
  },
  cleanUp: {
    id: 'cleanUpLease',
    summary: 'Try again to remove the container of a lease',
    description: 'Of a lease that is `manual-cleanup`.',
    parameters: LEASE_PARAMETER,
    body: { release: false },
    answers: { 202: { ...RUNNING, state: 'ending', endedBy: 'deleted', why: 'deleted by shop' } },
    problems: [UNKNOWN, NOT_FOR_CLEANUP, OVER],
  },
} as const satisfies Record<string, RouteDescription>;
