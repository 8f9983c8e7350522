import { collectDefaultMetrics, Counter, Histogram, Registry } from 'prom-client';

const SECONDS = [0.005, 0.02, 0.1, 0.5, 1, 5, 15, 60, 300, 1_800];

/** What a fact tells the counters. */
export interface CountedFact {
  readonly event: string;
  readonly queue?: string;
  readonly kind?: string;
  readonly waitedMs?: number;
  readonly tookMs?: number;
  readonly count?: number;
}

/** This process's numbers, in Prometheus' form. Fed by the journal, so that a fact is announced once. */
export class Metrics {
  readonly registry = new Registry();
  private readonly jobs: Counter<'event' | 'queue' | 'kind'>;
  private readonly lostEvents: Counter;
  private readonly waits: Histogram<'queue' | 'kind'>;
  private readonly runs: Histogram<'queue' | 'kind'>;

  constructor(app: string) {
    this.registry.setDefaultLabels({ app });
    collectDefaultMetrics({ register: this.registry });
    const registers = [this.registry];
    this.jobs = new Counter({
      name: 'mooring_job_events_total',
      help: 'Things that happened to jobs.',
      labelNames: ['event', 'queue', 'kind'],
      registers,
    });
    this.lostEvents = new Counter({
      name: 'mooring_events_lost_total',
      help: 'Events for other services that the store did not take.',
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
  }

  get contentType(): string {
    return this.registry.contentType;
  }

  text(): Promise<string> {
    return this.registry.metrics();
  }

  record = (fact: CountedFact): void => {
    const { event, queue = '', kind = '' } = fact;
    if (event === 'events.lost') this.lostEvents.inc(fact.count);
    if (!event.startsWith('job.')) return;
    this.jobs.inc({ event: event.slice('job.'.length), queue, kind });
    if (fact.waitedMs !== undefined) this.waits.observe({ queue, kind }, fact.waitedMs / 1_000);
    if (fact.tookMs !== undefined) this.runs.observe({ queue, kind }, fact.tookMs / 1_000);
  };
}
