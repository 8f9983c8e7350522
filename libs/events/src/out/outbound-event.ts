import { viewOfReceipt, type Fact } from '#nestjs';

type JobFact = Extract<Fact, { readonly jobId: string }>;

/** Which facts are published to other services. */
export const PUBLISH_LEVELS = ['off', 'owners', 'all'] as const;
export type PublishLevel = (typeof PUBLISH_LEVELS)[number];

/** The part of a CloudEvent that depends on the fact. */
export interface OutboundEvent {
  readonly type: string;
  readonly subject: string;
  /** Equal for every publication of the same fact. Absent if a fact is published only once. */
  readonly id?: string;
  readonly data: object;
}

/** Converts a fact to an event; undefined if the fact is not published. */
export function outboundEvent(fact: Fact, level: Exclude<PublishLevel, 'off'>): OutboundEvent | undefined {
  if (fact.event === 'owner.cancelled') {
    const { event: type, jobOnly, ...receipt } = fact;
    // A single job publishes its own end.
    if (jobOnly) return undefined;
    return {
      type,
      subject: receipt.owner,
      id: `${type}:${receipt.cancelId}`,
      data: viewOfReceipt(receipt),
    };
  }
  if (level === 'owners') return undefined;
  if (fact.event === 'workload') {
    if (fact.newsId === undefined) return undefined;
    return {
      type: fact.what,
      subject: fact.owner,
      id: fact.newsId,
      data: { owner: fact.owner, ...fact.facts },
    };
  }
  if (isEndOfJob(fact)) {
    const { event: type, ...data } = fact;
    return { type, subject: fact.jobId, data };
  }
  if (fact.event === 'sweep.tripped' || (fact.event === 'sweep.done' && isWorthPublishing(fact))) {
    const { event: type, ...data } = fact;
    return { type, subject: fact.sweep, id: `${type}:${fact.sweepId}`, data };
  }
  return undefined;
}

function isEndOfJob(fact: Fact): fact is JobFact {
  if (fact.event === 'job.failed') return fact.final;
  return ['job.completed', 'job.cancelled', 'job.expired', 'job.skipped'].includes(fact.event);
}

/** Expiry sweeps run every few seconds and mostly find nothing. Requested ones are always published. */
function isWorthPublishing(fact: Extract<Fact, { readonly sweepId: string }>): boolean {
  return fact.sweep !== 'expiry' || fact['onRequest'] === true || fact.removed + Number(fact['failed']) > 0;
}
