import { Owners } from '#core';
import { JanitorTasks } from '#fleet';
import { OperationWorker, Sweeper } from '#nestjs';
import {
  Inject,
  Injectable,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { PeriodicTasks, NOT_DONE } from './periodic-tasks.js';
import { FleetGauges } from './fleet-gauges.js';
import { JANITOR_ENV, type JanitorEnv } from './janitor-env.js';

/** Longest time a requested sweep waits for a janitor. */
const ASKED_EVERY_MS = 500;
/** How often cancels go on whose process has died. */
const RESUME_EVERY_MS = 30_000;

/** The periodic tasks of the janitor. With an `EVENT_MAP` a janitor also reads the event stream. */
@Injectable()
export class Schedule implements OnApplicationBootstrap, BeforeApplicationShutdown {
  constructor(
    @Inject(JANITOR_ENV) private readonly env: JanitorEnv,
    private readonly tasks: PeriodicTasks,
    private readonly gauges: FleetGauges,
    private readonly owners: Owners,
    private readonly sweeper: Sweeper,
    private readonly operations: OperationWorker,
    private readonly workloads: JanitorTasks,
    private readonly modules: ModuleRef,
  ) {}

  onApplicationBootstrap(): void {
    this.tasks.every(this.env.CENSUS_EVERY, 'census', () => this.gauges.update());
    this.tasks.every(RESUME_EVERY_MS, 'cancels', async () => void (await this.owners.resume()));
    this.tasks.every(ASKED_EVERY_MS, 'asked sweeps', () => this.sweeper.answerAsked());
    this.tasks.every(ASKED_EVERY_MS, 'operations', () => this.operations.begin());
    for (const { name, everyMs, reconciler } of this.workloads.reconcilers) {
      const each = this.modules.get(reconciler, { strict: false });
      this.tasks.every(everyMs, name, async () => void (await each.reconcileOnce()));
    }
    for (const { kind, everyMs } of this.workloads.sweeps) this.sweepEvery(everyMs, kind);
    this.sweepEvery(this.env.ORPHAN_SWEEP_EVERY, 'orphans');
    this.sweepEvery(this.env.RETENTION_EVERY, 'retention');
    this.sweepEvery(this.env.ARTIFACT_SWEEP_EVERY, 'artifacts');
    // Expired jobs must be visible as such within one interval, and a turn that finds nothing is cheap.
    this.sweepEvery(this.env.EXPIRY_SWEEP_EVERY, 'expiry', 0);
    this.sweepEvery(this.env.REPAIR_EVERY, 'repair');
  }

  /** Stops running sweeps while the tasks wait for them. Otherwise a sweep would run to its end. */
  async beforeApplicationShutdown(): Promise<void> {
    await this.sweeper.beforeApplicationShutdown();
  }

  /** Skips a turn if any janitor finished the same sweep within the last `restMs`. A skipped turn counts as done. */
  private sweepEvery(ms: number, kind: string, restMs = ms / 2): void {
    this.tasks.every(ms, `the sweep of ${kind}`, async () => {
      const done = await this.sweeper.sweepIfNeeded(kind, restMs);
      return done === 'held' ? NOT_DONE : undefined;
    });
  }
}
