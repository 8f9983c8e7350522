import { SWEEP_KINDS } from '#lifecycle';
import { Runtime } from '#runtime';
import { Injectable } from '@nestjs/common';
import { Counter, Gauge } from 'prom-client';

const OUTCOMES = ['done', 'tripped', 'stopped', 'failed'] as const;
/** These take artifacts away; what they failed to is there until a later one can. */
const TAKE_ARTIFACTS = ['retention', 'artifacts'] as const;

/** What a fact tells of a sweep, or of a count that was mended. */
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
  readonly by?: number | string;
}

/**
 * Counts what the sweeps do. A dry run does nothing, and is not counted. What one did that stopped is not counted yet: who
 * goes on with it says all of it at its end.
 */
@Injectable()
export class SweepMetrics {
  private readonly sweeps: Counter<'sweep' | 'outcome'>;
  private readonly lastAt: Gauge<'sweep'>;
  private readonly stall: Gauge<'sweep'>;
  private readonly orphansRemoved: Counter;
  private readonly orphansFound: Gauge;
  private readonly failures: Counter<'sweep'>;
  private readonly healed: Counter<'what'>;
  private readonly awaiting: Gauge<'sweep'>;
  private readonly unknown: Gauge<'sweep'>;

  constructor({ metrics }: Runtime) {
    const registers = [metrics.registry];
    this.sweeps = new Counter({
      name: 'mooring_sweeps_total',
      help: 'Sweeps that ended, by how they did.',
      labelNames: ['sweep', 'outcome'],
      registers,
    });
    this.lastAt = new Gauge({
      name: 'mooring_sweep_timestamp_seconds',
      help: 'When a sweep last ended; 0 when none has since this process started.',
      labelNames: ['sweep'],
      registers,
    });
    this.stall = new Gauge({
      name: 'mooring_sweep_worst_stall_seconds',
      help: 'The longest that the store kept another client waiting during the last sweep.',
      labelNames: ['sweep'],
      registers,
    });
    this.orphansRemoved = new Counter({
      name: 'mooring_orphaned_jobs_removed_total',
      help: 'Jobs that were removed because their owner was gone.',
      registers,
    });
    this.orphansFound = new Gauge({
      name: 'mooring_orphaned_jobs_found',
      help: 'Jobs of owners that were gone, as the last sweep found.',
      registers,
    });
    this.failures = new Counter({
      name: 'mooring_cleanup_failures_total',
      help: 'What a sweep was to remove, or to mend, and could not.',
      labelNames: ['sweep'],
      registers,
    });
    this.healed = new Counter({
      name: 'mooring_healed_total',
      help: 'Entries of our own books that were wrong and were put right.',
      labelNames: ['what'],
      registers,
    });
    this.awaiting = new Gauge({
      name: 'mooring_artifacts_awaiting_deletion',
      help: 'Jobs whose artifacts the last sweep was to delete and could not, or that rest since an earlier one could not.',
      labelNames: ['sweep'],
      registers,
    });
    this.unknown = new Gauge({
      name: 'mooring_sweep_unknown',
      help: 'Of what the last sweep saw, that of which nobody could say what is to become of it; it is kept.',
      labelNames: ['sweep'],
      registers,
    });
    this.expectAll();
  }

  record = (fact: SweepFact): void => {
    const { event, sweep } = fact;
    if (event === 'depth.mended') this.healed.inc({ what: 'depth' }, Math.abs(Number(fact.by)));
    const outcome = OUTCOMES.find((one) => event === `sweep.${one}`);
    if (sweep === undefined || fact.dryRun || !outcome) return;
    this.sweeps.inc({ sweep, outcome });
    if (outcome === 'stopped') return;
    this.lastAt.set({ sweep }, Date.now() / 1_000);
    if (sweep === 'orphans' && outcome === 'done') this.orphansFound.set(fact.jobs ?? 0);
    this.recordWork(sweep, fact);
  };

  private recordWork(sweep: string, fact: SweepFact): void {
    const { jobs = 0, failed = 0, waiting = 0, unknown = 0, healed = 0, worstStallMs = 0 } = fact;
    this.stall.set({ sweep }, worstStallMs / 1_000);
    this.unknown.set({ sweep }, unknown);
    this.failures.inc({ sweep }, failed);
    this.healed.inc({ what: sweep }, healed);
    if (sweep === 'orphans') this.orphansRemoved.inc(jobs);
    if (TAKE_ARTIFACTS.some((one) => one === sweep)) this.awaiting.set({ sweep }, failed + waiting);
  }

  /** A counter that is not there before it counts seems not to grow when it first does. */
  private expectAll(): void {
    for (const sweep of SWEEP_KINDS) {
      for (const outcome of OUTCOMES) this.sweeps.inc({ sweep, outcome }, 0);
      this.lastAt.set({ sweep }, 0);
      this.failures.inc({ sweep }, 0);
      this.unknown.set({ sweep }, 0);
    }
    for (const sweep of TAKE_ARTIFACTS) this.awaiting.set({ sweep }, 0);
  }
}
