/** So much of a reason is kept, whoever gave it: an engine may say megabytes, and jobs that are cancelled take few words. */
const WHY_CHARS = 300;

export const LEASE_STATES = [
  'provisioning',
  'running',
  'ending',
  'ended',
  'failed',
  'manual-cleanup',
] as const;
export type LeaseState = (typeof LEASE_STATES)[number];

/** These hold a place, in the order in which a lease goes through them. */
export const LIVE_STATES = ['provisioning', 'running', 'ending', 'manual-cleanup'] as const;

/** Its time was over; it was deleted; its own owner or the one it was given was cancelled; nothing could be made; it was gone. */
export const ENDINGS = ['expired', 'deleted', 'cancelled', 'owner', 'failed', 'container-gone'] as const;
export type Ending = (typeof ENDINGS)[number];

/** A container that somebody has for a time. */
export interface Lease {
  readonly id: string;
  readonly state: LeaseState;
  readonly image: string;
  /** What takes the lease down with it. */
  readonly owner?: string;
  readonly createdAt: string;
  readonly expiresAt: string;
  readonly containerId: string | null;
  readonly endedBy?: Ending;
  readonly endedAt?: string;
  /** Why it ended, or why its container could not be removed. */
  readonly why?: string;
}

/** A lease with what only we need to know of it. */
export interface LeaseRecord extends Lease {
  /** How long it was asked for. */
  readonly livesMs: number;
  /** Its container as it was made. */
  readonly made?: Made;
  readonly jobs?: LeaseJobs;
}

export interface Made {
  readonly engine: string;
  readonly id: string;
  readonly createdAt: number;
}

/** The one that makes its container, the one that ends it, and the one that its owner takes away with it. */
export interface LeaseJobs {
  readonly send: string;
  readonly end: string;
  readonly moor: string | undefined;
}

/** The lease that its hash holds; nothing when there is none. */
export function readLease(id: string, fields: Readonly<Record<string, string>>): LeaseRecord | undefined {
  const { state, image, owner, lives, created, expires, ended, container, born, engine, how, why } = fields;
  const { send, end, moor } = fields;
  if (!state) return undefined;
  return {
    id,
    state: state as LeaseState,
    image: image!,
    ...(owner !== undefined && { owner }),
    createdAt: isoOf(created!),
    expiresAt: isoOf(expires!),
    containerId: container ?? null,
    ...(how !== undefined && { endedBy: how as Ending }),
    ...(ended !== undefined && { endedAt: isoOf(ended) }),
    ...(why !== undefined && { why }),
    livesMs: Number(lives),
    ...(container !== undefined && {
      made: { engine: engine!, id: container, createdAt: Number(born) },
    }),
    ...(send !== undefined && { jobs: { send, end: end!, moor: moor || undefined } }),
  };
}

export function inFew(why: string): string {
  return why.slice(0, WHY_CHARS);
}

function isoOf(ms: string): string {
  return new Date(Number(ms)).toISOString();
}
