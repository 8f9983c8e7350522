import { collectDefaultMetrics, Counter, Histogram, Registry } from 'prom-client';
import { CancelCounter, type CancelFact } from './cancel-counter.js';

const SECONDS = [0.005, 0.02, 0.1, 0.5, 1, 5, 15, 60, 300, 1_800];
const ENDS = ['job.completed', 'job.failed', 'job.cancelled', 'job.expired', 'job.skipped'];
const LIFETIMES = [0.1, 0.5, 1, 5, 15, 60, 300, 1_800, 7_200, 86_400];

/** Gauges of the Node.js client with a counter's name, which Prometheus' linter refuses. The same without `_total` stay, by type. */
const MISNAMED = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
];

/** What a fact tells the counters. */
export interface CountedFact extends CancelFact {
  readonly event: string;
  readonly queue?: string;
  readonly queues?: readonly string[];
  readonly kind?: string;
  readonly final?: boolean;
  readonly waitedMs?: number;
  readonly tookMs?: number;
  readonly lifetimeMs?: number;
  readonly count?: number;
  readonly by?: unknown;
  readonly resolver?: string;
  readonly what?: unknown;
  readonly status?: string;
  readonly facts?: { readonly action?: string | number | boolean };
}

/** This process's numbers, in Prometheus' form. Fed by the journal, so that a fact is announced once. */
export class Metrics {
  readonly registry = new Registry();
  private readonly jobs: Counter<'event' | 'queue' | 'kind'>;
  private readonly ended: Counter<'outcome' | 'queue' | 'kind'>;
  private readonly expired: Counter<'by'>;
  private readonly cancels: CancelCounter;
  private readonly lostEvents: Counter;
  private readonly resolverFailures: Counter<'type'>;
  private readonly workloads: Counter<'event' | 'action' | 'status'>;
  private readonly waits: Histogram<'queue' | 'kind'>;
  private readonly runs: Histogram<'queue' | 'kind'>;
  private readonly lifetimes: Histogram<'queue' | 'kind'>;

  constructor(app: string) {
    this.registry.setDefaultLabels({ app });
    collectDefaultMetrics({ register: this.registry });
    for (const name of MISNAMED) this.registry.removeSingleMetric(name);
    const registers = [this.registry];
    this.jobs = new Counter({
      name: 'mooring_job_events_total',
      help: 'Things that happened to jobs.',
      labelNames: ['event', 'queue', 'kind'],
      registers,
    });
    this.ended = new Counter({
      name: 'mooring_jobs_ended_total',
      help: 'Jobs that ended for good, by how they did.',
      labelNames: ['outcome', 'queue', 'kind'],
      registers,
    });
    this.expired = new Counter({
      name: 'mooring_jobs_expired_total',
      help: 'Jobs that were not begun in time, by who found them: the gate or the sweep.',
      labelNames: ['by'],
      registers,
    });
    this.cancels = new CancelCounter(this.registry);
    this.lostEvents = new Counter({
      name: 'mooring_events_lost_total',
      help: 'Events for other services that the store did not take.',
      registers,
    });
    this.resolverFailures = new Counter({
      name: 'mooring_resolver_failures_total',
      help: 'Batches of owners that a resolver said nothing of: it failed, hung or was wrong.',
      labelNames: ['type'],
      registers,
    });
    this.workloads = new Counter({
      name: 'mooring_workload_events_total',
      help: 'Things that happened to what the workloads look after, such as leases.',
      labelNames: ['event', 'action', 'status'],
      registers,
    });
    this.waits = new Histogram({
      name: 'mooring_job_wait_seconds',
      help: 'From when a job was due to when it began.',
      labelNames: ['queue', 'kind'],
      buckets: SECONDS,
      registers,
    });
    this.runs = new Histogram({
      name: 'mooring_job_run_seconds',
      help: 'From when a job began to how it ended.',
      labelNames: ['queue', 'kind'],
      buckets: SECONDS,
      registers,
    });
    this.lifetimes = new Histogram({
      name: 'mooring_job_lifetime_seconds',
      help: 'From when a job was accepted to when it completed or failed for good.',
      labelNames: ['queue', 'kind'],
      buckets: LIFETIMES,
      registers,
    });
  }

  get contentType(): string {
    return this.registry.contentType;
  }

  text(): Promise<string> {
    return this.registry.metrics();
  }

  record = (fact: CountedFact): void => {
    if (fact.event === 'owner.cancelled') this.cancels.record(fact);
    if (fact.event === 'events.lost') this.lostEvents.inc(fact.count);
    if (fact.resolver !== undefined) this.resolverFailures.inc({ type: fact.resolver });
    if (fact.event === 'worker.started') this.expectStalls(fact.queues ?? []);
    if (fact.event === 'workload') this.recordWorkload(fact);
    if (fact.event.startsWith('job.')) this.recordJob(fact);
  };

  private recordWorkload({ what, facts, status = '' }: CountedFact): void {
    this.workloads.inc({ event: String(what), action: String(facts?.action ?? ''), status });
  }

  private recordJob({
    event,
    queue = '',
    kind = '',
    waitedMs,
    tookMs,
    lifetimeMs,
    ...fact
  }: CountedFact): void {
    this.jobs.inc({ event: event.slice('job.'.length), queue, kind });
    const outcome = outcomeOf(event, fact.final);
    if (event === 'job.began') this.expectEnd(queue, kind);
    if (outcome) this.ended.inc({ outcome, queue, kind });
    if (outcome === 'expired') this.expired.inc({ by: fact.by === 'sweep' ? 'sweep' : 'gate' });
    if (waitedMs !== undefined) this.waits.observe({ queue, kind }, waitedMs / 1_000);
    if (tookMs !== undefined) this.runs.observe({ queue, kind }, tookMs / 1_000);
    if (lifetimeMs !== undefined) this.lifetimes.observe({ queue, kind }, lifetimeMs / 1_000);
  }

  // Alerts watch these counters for growth. Without an initial 0, Prometheus would miss the first increment.

  private expectStalls(queues: readonly string[]): void {
    for (const queue of queues) this.jobs.inc({ event: 'stalled', queue, kind: '' }, 0);
  }

  private expectEnd(queue: string, kind: string): void {
    for (const outcome of ['completed', 'failed']) this.ended.inc({ outcome, queue, kind }, 0);
  }
}

function outcomeOf(event: string, final = event !== 'job.failed'): string | undefined {
  return final && ENDS.includes(event) ? event.slice('job.'.length) : undefined;
}
