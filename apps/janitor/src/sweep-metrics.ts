import { Runtime, type Metrics } from '#runtime';
import { Injectable } from '@nestjs/common';
import { SWEEP_KINDS } from './sweep-kinds.js';

const OUTCOMES = ['done', 'tripped', 'stopped', 'failed'] as const;
/** Sweeps that delete artifacts. What they could not delete waits for a later sweep. */
const TAKE_ARTIFACTS = ['retention', 'artifacts'] as const;

/** Fields of a fact about a sweep. */
interface SweepFact {
  readonly event: string;
  readonly sweep?: string;
  readonly jobs?: number;
  readonly failed?: number;
  readonly unknown?: number;
  readonly waiting?: number;
  readonly healed?: number;
  readonly worstStallMs?: number;
  readonly dryRun?: boolean;
}

/**
 * Counts the work of sweeps. Dry runs are not counted. The work of a stopped sweep is counted when the sweep that resumes it
 * ends, because it reports all of the work.
 */
@Injectable()
export class SweepMetrics {
  private readonly metrics: ReturnType<typeof metricsIn>;

  constructor({ metrics }: Runtime) {
    this.metrics = metricsIn(metrics);
    this.expectAll();
  }

  record = (fact: SweepFact): void => {
    const { event, sweep } = fact;
    const outcome = OUTCOMES.find((one) => event === `sweep.${one}`);
    if (sweep === undefined || fact.dryRun || !outcome) return;
    this.metrics.sweeps.inc({ sweep, outcome });
    if (outcome === 'stopped') return;
    this.metrics.lastAt.set({ sweep }, Date.now() / 1_000);
    if (sweep === 'orphans' && outcome === 'done') this.metrics.orphansFound.set(fact.jobs ?? 0);
    this.recordWork(sweep, fact);
  };

  private recordWork(sweep: string, fact: SweepFact): void {
    const { jobs = 0, failed = 0, waiting = 0, unknown = 0, healed = 0, worstStallMs = 0 } = fact;
    this.metrics.stall.set({ sweep }, worstStallMs / 1_000);
    this.metrics.unknown.set({ sweep }, unknown);
    this.metrics.failures.inc({ sweep }, failed);
    this.metrics.healed.inc({ what: sweep }, healed);
    if (sweep === 'orphans') this.metrics.orphansRemoved.inc(jobs);
    if (TAKE_ARTIFACTS.some((one) => one === sweep)) this.metrics.awaiting.set({ sweep }, failed + waiting);
  }

  /** Initialises every series, because Prometheus does not see the first increment of a new counter. */
  private expectAll(): void {
    for (const sweep of SWEEP_KINDS) {
      for (const outcome of OUTCOMES) this.metrics.sweeps.inc({ sweep, outcome }, 0);
      this.metrics.lastAt.set({ sweep }, 0);
      this.metrics.failures.inc({ sweep }, 0);
      this.metrics.unknown.set({ sweep }, 0);
    }
    for (const sweep of TAKE_ARTIFACTS) this.metrics.awaiting.set({ sweep }, 0);
  }
}

function metricsIn(metrics: Metrics) {
  return {
    sweeps: metrics.counter('mooring_sweeps_total', 'Sweeps that ended, by outcome.', ['sweep', 'outcome']),
    lastAt: metrics.gauge(
      'mooring_sweep_timestamp_seconds',
      'When a sweep last ended; 0 when none has since this process started.',
      ['sweep'],
    ),
    stall: metrics.gauge(
      'mooring_sweep_worst_stall_seconds',
      'The longest that the store kept another client waiting during the last sweep.',
      ['sweep'],
    ),
    orphansRemoved: metrics.counter(
      'mooring_orphaned_jobs_removed_total',
      'Jobs that were removed because their owner was gone.',
    ),
    orphansFound: metrics.gauge(
      'mooring_orphaned_jobs_found',
      'Jobs of owners that were gone, as the last sweep found.',
    ),
    failures: metrics.counter(
      'mooring_cleanup_failures_total',
      'Items that a sweep could not remove or repair.',
      ['sweep'],
    ),
    healed: metrics.counter('mooring_healed_total', 'What a sweep repaired, by the kind of sweep.', ['what']),
    awaiting: metrics.gauge(
      'mooring_artifacts_awaiting_deletion',
      'Jobs whose artifacts the last sweep could not delete, or that wait since an earlier sweep could not.',
      ['sweep'],
    ),
    unknown: metrics.gauge(
      'mooring_sweep_unknown',
      'Items of the last sweep whose state could not be determined; they are kept.',
      ['sweep'],
    ),
  };
}
