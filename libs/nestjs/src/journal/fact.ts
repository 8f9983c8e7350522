import type { Receipt } from '#core';
import type { Job } from 'bullmq';

/** Which job a fact is about. */
export interface JobFacts {
  readonly queue: string;
  readonly kind: string;
  readonly jobId: string;
  /** The primary one, as in `trip:42`; '' for a job without owners. */
  readonly owner: string;
  /** Of the HTTP call that enqueued it. */
  readonly requestId?: string;
}

type Named<Event extends string, Details = object> = { readonly event: Event } & Readonly<Details>;

/** How a job ended without having completed or failed. */
export type Unrun = 'job.cancelled' | 'job.expired' | 'job.skipped';

/** `job.failed` is one attempt; with `final` the job has failed. */
export type JobFact = JobFacts &
  (
    | Named<'job.accepted'>
    | Named<'job.deduplicated', { outcome: 'skipped' | 'coalesced' }>
    | Named<'job.began', { attempt: number; waitedMs?: number }>
    | Named<'job.completed', { tookMs: number; lifetimeMs: number }>
    | Named<'job.failed', { tookMs: number; why: string; final: boolean; lifetimeMs?: number }>
    | Named<Unrun, { why: string; by?: string }>
    | Named<'job.put-off', { why: string; forMs: number }>
    | Named<'job.retried', { by: string; reset: boolean; operationId?: string }>
    | Named<'job.promoted', { by: string }>
    | Named<'job.priority-set', { by: string; priority: number }>
    | Named<'job.handed-back' | 'job.lost' | 'job.stalled', { why: string }>
  );

/** What an operator or a caller asked for, and who that was. */
type Act =
  | 'queue.paused'
  | 'queue.resumed'
  | 'owner.reopened'
  | 'schedule.created'
  | 'schedule.replaced'
  | 'schedule.deleted'
  | 'slot.limit-set'
  | 'slot.rate-set'
  | 'sweep.asked'
  | 'operation.asked'
  | 'operation.stop-asked'
  | 'operation.done'
  | 'operation.stopped'
  | 'operation.failed';

/** Something that happened to what a workload looks after: `what` is its name, as in `lease.expired`. With `newsId` others are told. */
export type WorkloadFact = Named<
  'workload',
  {
    what: string;
    owner: string;
    status: 'done' | 'failed';
    newsId?: string;
    facts: Readonly<Record<string, string | number | boolean>>;
  }
>;

/** Everything that is told: to logs and metrics, and some of it to other services. */
export type Fact =
  | JobFact
  | WorkloadFact
  | Named<Act, { by?: string; [detail: string]: unknown }>
  | Named<'owner.cancelled', Receipt & { jobOnly?: true }>
  | Named<
      'sweep.done' | 'sweep.tripped' | 'sweep.stopped' | 'sweep.failed',
      { sweepId: string; sweep: string; removed: number; [detail: string]: unknown }
    >
  | Named<'worker.started', { queues: readonly string[]; kinds: readonly string[] }>
  | Named<'worker.draining', { running: number }>
  | Named<'worker.drained', { tookMs: number; stillRunning: number }>
  /** `resolver` is the type of owners that a resolver did not answer for. */
  | Named<'trouble', { what: string; why: string; resolver?: string }>;

export type FactListener = (fact: Fact) => void;

export function factsOf(job: Pick<Job, 'id' | 'name' | 'queueName' | 'opts'>): JobFacts {
  const { owners, origin } = job.opts as { owners?: string[]; origin?: { requestId?: string } };
  const facts = { queue: job.queueName, kind: job.name, jobId: job.id ?? '', owner: owners?.[0] ?? '' };
  return origin?.requestId === undefined ? facts : { ...facts, requestId: origin.requestId };
}
