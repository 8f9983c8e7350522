import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';

const SECONDS = [0.005, 0.02, 0.1, 0.5, 1, 5, 15, 60, 300, 1_800];
const ENDS = ['job.completed', 'job.failed', 'job.cancelled', 'job.expired', 'job.skipped'];
/** Callers name types of owners as they like; a metric must not grow with what they think of. */
const MOST_TYPES = 100;
const LIFETIMES = [0.1, 0.5, 1, 5, 15, 60, 300, 1_800, 7_200, 86_400];

/** Gauges of the Node.js client with a counter's name, which Prometheus' linter refuses. The same without `_total` stay, by type. */
const MISNAMED = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
];

/** What a fact tells the counters. */
export interface CountedFact {
  readonly event: string;
  readonly owner?: string;
  readonly jobOnly?: true;
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
  private readonly jobs = this.counter('mooring_job_events_total', 'Things that happened to jobs.', [
    'event',
    'queue',
    'kind',
  ]);
  private readonly ended = this.counter(
    'mooring_jobs_ended_total',
    'Jobs that ended for good, by how they did.',
    ['outcome', 'queue', 'kind'],
  );
  private readonly expired = this.counter(
    'mooring_jobs_expired_total',
    'Jobs that were not begun in time, by who found them: the gate or the sweep.',
    ['by'],
  );
  private readonly cancels = this.counter(
    'mooring_cancels_total',
    'Cancels of owners and of single jobs, by the type of the owner.',
    ['what', 'type'],
  );
  /** The first types of this process, which are told apart. */
  private readonly types = new Set<string>();
  private readonly lostEvents = this.counter(
    'mooring_events_lost_total',
    'Events for other services that the store did not take.',
  );
  private readonly resolverFailures = this.counter(
    'mooring_resolver_failures_total',
    'Batches of owners that a resolver said nothing of: it failed, hung or was wrong.',
    ['type'],
  );
  private readonly workloads = this.counter(
    'mooring_workload_events_total',
    'Things that happened to what the workloads look after, such as leases.',
    ['event', 'action', 'status'],
  );
  private readonly waits = this.histogram(
    'mooring_job_wait_seconds',
    'From when a job was due to when it began.',
    SECONDS,
  );
  private readonly runs = this.histogram(
    'mooring_job_run_seconds',
    'From when a job began to how it ended.',
    SECONDS,
  );
  private readonly lifetimes = this.histogram(
    'mooring_job_lifetime_seconds',
    'From when a job was accepted to when it completed or failed for good.',
    LIFETIMES,
  );

  constructor(app: string) {
    this.registry.setDefaultLabels({ app });
    collectDefaultMetrics({ register: this.registry });
    for (const name of MISNAMED) this.registry.removeSingleMetric(name);
  }

  get contentType(): string {
    return this.registry.contentType;
  }

  text(): Promise<string> {
    return this.registry.metrics();
  }

  counter<L extends string>(name: string, help: string, labelNames: readonly L[] = []): Counter<L> {
    return new Counter({ name, help, labelNames, registers: [this.registry] });
  }

  /** @param measure sets the values before each scrape */
  gauge<L extends string>(
    name: string,
    help: string,
    labelNames: readonly L[] = [],
    measure?: (gauge: Gauge<L>) => void,
  ): Gauge<L> {
    const collect = measure && { collect: () => measure(gauge) };
    const gauge: Gauge<L> = new Gauge({ name, help, labelNames, registers: [this.registry], ...collect });
    return gauge;
  }

  private histogram(name: string, help: string, buckets: number[]): Histogram<'queue' | 'kind'> {
    return new Histogram({ name, help, labelNames: ['queue', 'kind'], buckets, registers: [this.registry] });
  }

  record = (fact: CountedFact): void => {
    if (fact.event === 'owner.cancelled') this.recordCancel(fact);
    if (fact.event === 'events.lost') this.lostEvents.inc(fact.count);
    if (fact.resolver !== undefined) this.resolverFailures.inc({ type: fact.resolver });
    if (fact.event === 'worker.started') this.expectStalls(fact.queues ?? []);
    if (fact.event === 'workload') this.recordWorkload(fact);
    if (fact.event.startsWith('job.')) this.recordJob(fact);
  };

  private recordCancel({ owner = '', jobOnly }: CountedFact): void {
    const [type] = owner.split(':', 1) as [string];
    if (this.types.size < MOST_TYPES) this.types.add(type);
    this.cancels.inc({ what: jobOnly ? 'job' : 'owner', type: this.types.has(type) ? type : 'other' });
  }

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
