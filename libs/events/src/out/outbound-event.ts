import type { Fact } from '#lifecycle';

/** Which facts other services are told of. */
export const TELL = ['off', 'owners', 'all'] as const;
export type Tell = (typeof TELL)[number];

/** What of a fact is a CloudEvent's own; the rest its envelope adds. */
export interface Outgoing {
  readonly type: string;
  readonly subject: string;
  /** The same fact, told again, has the same. Absent: it is told once. */
  readonly id?: string;
  readonly data: object;
}

/** A fact as other services are told it; nothing when it is no news to them. */
export function outgoing(fact: Fact, tell: Exclude<Tell, 'off'>): Outgoing | undefined {
  if (fact.event === 'owner.cancelled') {
    const { event: type, ...receipt } = fact;
    // Of one job alone its own end tells; late: nothing was done.
    if (receipt.job !== undefined || receipt.late) return undefined;
    return { type, subject: receipt.owner, id: `${type}:${receipt.cancelId}`, data: receipt };
  }
  if (tell === 'owners') return undefined;
  if (fact.event === 'workload') {
    if (fact.newsId === undefined) return undefined;
    return {
      type: fact.what,
      subject: fact.owner,
      id: fact.newsId,
      data: { owner: fact.owner, ...fact.facts },
    };
  }
  if (fact.event === 'job.skipped') {
    const { event: _, endedAs, ...data } = fact;
    return { type: `job.${endedAs}`, subject: fact.jobId, data };
  }
  if (fact.event === 'job.completed' || (fact.event === 'job.failed' && fact.final)) {
    const { event: type, ...data } = fact;
    return { type, subject: fact.jobId, data };
  }
  if (fact.event === 'sweep.tripped' || (fact.event === 'sweep.done' && isNews(fact))) {
    const { event: type, ...data } = fact;
    return { type, subject: fact.sweep, id: `${type}:${fact.sweepId}`, data };
  }
  return undefined;
}

/** One comes every few seconds, and mostly finds nothing; who asked for one waits to hear of its end. */
function isNews({
  sweep,
  removed,
  failed,
  onRequest = false,
}: Extract<Fact, { readonly sweepId: string }>): boolean {
  return sweep !== 'expiry' || onRequest || removed + failed > 0;
}
