import { isoDate } from '#workload-kit';
import { z } from 'zod';

/** Limit for a stored reason: an engine's message may be very long, and cancel reasons are short. */
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

/** States that hold a place, in the order in which a lease passes through them. */
export const LIVE_STATES = ['provisioning', 'running', 'ending', 'manual-cleanup'] as const;

/**
 * Why a lease ended: its deadline passed; it was deleted; its own owner or its given owner was cancelled;
 * creation failed; its container was gone.
 */
export const ENDINGS = ['expired', 'deleted', 'cancelled', 'owner', 'failed', 'container-gone'] as const;
export type Ending = (typeof ENDINGS)[number];

const time = z.iso.datetime();

/** A container leased for a limited time. */
export const LeaseAnswer = z
  .object({
    id: z.string(),
    state: z.enum(LEASE_STATES),
    image: z.string(),
    owner: z.string().optional().describe('What takes it down with it.'),
    createdAt: time,
    expiresAt: time,
    containerId: z.string().nullable().describe('Null until it is made.'),
    endedBy: z.enum(ENDINGS).optional(),
    endedAt: time.optional().describe('When its container was known to be gone.'),
    why: z.string().optional().describe('Why it ended, or why its container could not be removed.'),
  })
  .meta({ id: 'Lease' });
export type Lease = z.output<typeof LeaseAnswer>;

/** A lease with its internal fields. */
export interface LeaseRecord extends Lease {
  /** The requested duration. */
  readonly livesMs: number;
  /** Its container as it was created. */
  readonly made?: Made;
  readonly jobs?: LeaseJobs;
}

export interface Made {
  readonly engine: string;
  readonly id: string;
  readonly createdAt: number;
}

/** The job that creates its container, the job that ends it, and the job that ties it to its owner. */
export interface LeaseJobs {
  readonly send: string;
  readonly end: string;
  readonly moor: string | undefined;
}

/** An exclusive attempt to end a lease. */
export interface Claim {
  readonly attempt: number;
  readonly fence: string;
  readonly made: Made | undefined;
  /** How long a container may still appear; undefined if creation never began. */
  readonly makingMs: number | undefined;
  readonly how: Ending;
  /** Time since the lease was over. */
  readonly overForMs: number;
  /** All attempts have failed; only check whether the container is gone by now. */
  readonly onlyLooks: boolean;
}

/** Reads a lease from its hash; undefined if there is none. */
export function readLease(id: string, fields: Readonly<Record<string, string>>): LeaseRecord | undefined {
  const { state, image, owner, lives, created, expires, ended, container, born, engine, how, why } = fields;
  const { send, end, moor } = fields;
  if (!state) return undefined;
  return {
    id,
    state: state as LeaseState,
    image: image!,
    ...(owner !== undefined && { owner }),
    createdAt: isoDate(created!),
    expiresAt: isoDate(expires!),
    containerId: container ?? null,
    ...(how !== undefined && { endedBy: how as Ending }),
    ...(ended !== undefined && { endedAt: isoDate(ended) }),
    ...(why !== undefined && { why }),
    livesMs: Number(lives),
    ...(container !== undefined && {
      made: { engine: engine!, id: container, createdAt: Number(born) },
    }),
    ...(send !== undefined && { jobs: { send, end: end!, moor: moor || undefined } }),
  };
}

/** Reads what the script `claim` answers after its word. */
export function readClaim(answer: readonly string[], onlyLooks: boolean): Claim {
  const [attempt, fence, id, born, engine, making, how, over] = answer;
  return {
    attempt: Number(attempt),
    fence: fence!,
    made: id ? { engine: engine!, id, createdAt: Number(born) } : undefined,
    makingMs: making ? Number(making) : undefined,
    how: how as Ending,
    overForMs: Number(over),
    onlyLooks,
  };
}

export function inFew(why: string): string {
  return why.slice(0, WHY_CHARS);
}
