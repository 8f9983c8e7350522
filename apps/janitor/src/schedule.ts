import { DepthCensus, Sweeper, Ticker, type SweepKind } from '#lifecycle';
import { Runtime } from '#runtime';
import { LeaseReconciler } from '#workloads/containers';
import { SiteReconciler } from '#workloads/sites';
import { TripReconciler } from '#workloads/trips';
import {
  Injectable,
  Optional,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { Duties, NOT_DONE } from './duties.js';
import { FleetGauges } from './fleet-gauges.js';
import { Intervals } from './intervals.js';
import { SweepMetrics } from './sweep-metrics.js';

/** How long a sweep that an operator asked for waits for a janitor, at most. */
const ASKED_EVERY_MS = 500;
/** How long a trip whose process died waits, beside the time that process had; and one whose timeout does not come. */
const TRIPS_EVERY_MS = 500;
/** Likewise a site. */
const SITES_EVERY_MS = 2_000;

/** How late the end of a lease may be found by a janitor that no worker found. */
const LEASES_EVERY_MS = 500;

/**
 * What only a janitor does, and when. Beside it a janitor reads the stream of events, where it has an `EVENT_MAP`, and does what an
 * api does too, by timers that are found there: clean-ups of cancels (`CleanUps`), the followers of diagrams (`DiagramReconcileLoop`).
 */
@Injectable()
export class Schedule implements OnApplicationBootstrap, BeforeApplicationShutdown {
  constructor(
    private readonly intervals: Intervals,
    private readonly duties: Duties,
    private readonly gauges: FleetGauges,
    private readonly sweepMetrics: SweepMetrics,
    private readonly depths: DepthCensus,
    private readonly ticker: Ticker,
    private readonly sweeper: Sweeper,
    private readonly runtime: Runtime,
    @Optional() private readonly trips?: TripReconciler,
    @Optional() private readonly sites?: SiteReconciler,
    @Optional() private readonly leases?: LeaseReconciler,
  ) {}

  onApplicationBootstrap(): void {
    this.duties.every(this.intervals.CENSUS_EVERY, 'census', async () => {
      for (const mended of await this.depths.look()) {
        const fact = { event: 'depth.mended', ...mended };
        this.runtime.log.info(fact, `The count of ${mended.queue} was wrong`);
        this.sweepMetrics.record(fact);
      }
      await this.gauges.update();
    });
    this.duties.every(this.intervals.SCHEDULES_EVERY, 'schedules', async () => {
      await this.ticker.tick();
    });
    this.duties.every(ASKED_EVERY_MS, 'asked sweeps', () => this.sweeper.answerAsked());
    const { leases, trips, sites } = this;
    if (trips) this.duties.every(TRIPS_EVERY_MS, 'trips', async () => void (await trips.reconcileOnce()));
    if (sites) this.duties.every(SITES_EVERY_MS, 'sites', () => sites.reconcileOnce());
    if (leases) {
      this.duties.every(LEASES_EVERY_MS, 'leases', async () => void (await leases.reconcileOnce()));
      this.sweepEvery(this.intervals.LEASE_REAP_EVERY, 'leases');
    }
    this.sweepEvery(this.intervals.ORPHAN_SWEEP_EVERY, 'orphans');
    this.sweepEvery(this.intervals.RETENTION_EVERY, 'retention');
    this.sweepEvery(this.intervals.ARTIFACT_SWEEP_EVERY, 'artifacts');
    // What is too late is to read so within one interval, and a turn that finds nothing costs nothing.
    this.sweepEvery(this.intervals.EXPIRY_SWEEP_EVERY, 'expiry', 0);
    this.sweepEvery(this.intervals.REPAIR_EVERY, 'repair');
  }

  /** Together with the duties, which wait for what is under way: a sweep that was not told to stop would go on to its end. */
  async beforeApplicationShutdown(): Promise<void> {
    await this.sweeper.beforeApplicationShutdown();
  }

  /** A turn is left to a sweep that has ended since the half of the interval before it, whoever did it: that is done, too. */
  private sweepEvery(ms: number, kind: SweepKind, restMs = ms / 2): void {
    this.duties.every(ms, `the sweep of ${kind}`, async () => {
      const done = await this.sweeper.sweepIfNeeded(kind, restMs);
      return done === 'held' ? NOT_DONE : undefined;
    });
  }
}
