import type { Job } from 'bullmq';
import { CorruptJobError } from '../errors.js';
import type { JobFacts } from './job-facts.js';

/**
 * What becomes of a parent when a child of it does not complete, for whatever reason. `fail`: it fails too, and does not
 * run. `continue`: it starts at once, while the other children go on. `ignore`: it starts when all have ended.
 */
export const CHILD_POLICIES = ['fail', 'continue', 'ignore'] as const;
export type ChildPolicy = (typeof CHILD_POLICIES)[number];

type Child = readonly [jobId: string, kind: string];

/**
 * What BullMQ stores as a job's data. The kind is the job's name. Short names: every waiting job carries them.
 * The epochs say under which generation of each owner the job was accepted; the gate compares them.
 */
export interface Envelope {
  readonly v: 1;
  /** Owners as written; the first is the primary. */
  readonly o: readonly string[];
  /** The epoch of each. */
  readonly e: readonly string[];
  /** Its life, ms: how long after it was last wanted it may start. Its primary owner's record says when that was. */
  readonly x?: number;
  /** Digest of its deduplication key. */
  readonly d?: string;
  /**
   * Concurrency key, how many may run at once, and when it was accepted, as its place in line: that which was named, else
   * that of the deduplication key.
   */
  readonly s?: readonly [key: string, limit: number, accepted: number];
  /** Its children, when it is the parent of a flow, and what it means to it that one of them did not complete. */
  readonly c?: { readonly on: ChildPolicy; readonly jobs: readonly Child[] };
  /** The payload, as the caller gave it. */
  readonly b?: unknown;
}

/**
 * The envelope of a job, or an error that ends it for good: a job whose hash is gone, or that another program
 * put into the queue, is never run empty.
 */
export function openEnvelope(job: Job): Envelope {
  const data = job.data as Partial<Envelope> | null | undefined;
  const isWhole =
    job.name &&
    data?.v === 1 &&
    isTexts(data.o) &&
    isTexts(data.e) &&
    data.o.length === data.e.length &&
    data.o.every((owner) => OWNER.test(owner)) &&
    data.o.length >= 1 &&
    data.o.length <= 4 &&
    (data.x === undefined || (Number.isSafeInteger(data.x) && data.x >= 0)) &&
    (data.d === undefined || typeof data.d === 'string') &&
    (data.s === undefined ||
      (typeof data.s[0] === 'string' && Number.isInteger(data.s[1]) && Number.isInteger(data.s[2]))) &&
    (data.c === undefined || (CHILD_POLICIES.includes(data.c.on) && Array.isArray(data.c.jobs)));
  if (!isWhole) throw new CorruptJobError(job.id ?? '?', job.queueName);
  return data as Envelope;
}

/** The concurrency key of a deduplication key: while one of its jobs runs, the pending twin waits. */
export function slotOfKey(primary: string, dedup: string): string {
  return `${primary}\0${dedup}`;
}

/** Whether it is one of ours, and whole. */
export function isOurs(job: Job): boolean {
  try {
    return openEnvelope(job).v === 1;
  } catch {
    return false;
  }
}

const OWNER = /^[a-z][\w-]*:./is;

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

/** Which job this is, also when it is not one of ours. */
export function factsOf(job: Job): JobFacts {
  const owners = (job.data as Partial<Envelope> | undefined)?.o;
  return { queue: job.queueName, kind: job.name, jobId: job.id ?? '?', owner: owners?.[0] ?? '?' };
}
