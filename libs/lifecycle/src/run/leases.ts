import { Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Slots } from '../gate/slots.js';
import { Journal } from '../journal.js';
import { LIFECYCLE_DEFAULTS, LifecycleOptions } from '../options.js';
import { ScriptBatch } from '../script-batch.js';
import type { Run } from './run.js';
import { RunningJobs } from './running-jobs.js';
import { OwnerCancelled, RunLost } from './stop-reasons.js';

/** How many times a lease is renewed in its length: one renewal may be lost, and the next still comes in time. */
const RENEWALS = 4;
/** The part of a lease that is left when a run that could not renew it stops: it must end before others begin. */
const MARGIN = 0.1;

/**
 * Keeps the leases of the running jobs. A renewal is also how a run hears for sure that its owner was cancelled. A run
 * that cannot renew stops by its own clock, before its lease is over: a slow answer does not extend trust.
 */
@Injectable()
export class Leases implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly renewing: ScriptBatch;
  private readonly leaseMs: number;
  private readonly heldUntil = new WeakMap<Run, number>();
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly options: LifecycleOptions,
    private readonly running: RunningJobs,
    private readonly slots: Slots,
    private readonly journal: Journal,
  ) {
    this.renewing = new ScriptBatch(options.redis, 'renew', () => ['']);
    this.leaseMs = options.worker?.lockMs ?? LIFECYCLE_DEFAULTS.lockMs;
  }

  onApplicationBootstrap(): void {
    if (!this.options.worker) return;
    this.timer = setInterval(() => this.renewAll(), this.leaseMs / RENEWALS);
    this.timer.unref();
  }

  onApplicationShutdown(): void {
    clearInterval(this.timer);
  }

  renewAll(): void {
    const now = performance.now();
    for (const run of this.running.all()) {
      const heldUntil = this.heldUntil.get(run) ?? now + this.leaseMs * (1 - 1 / RENEWALS);
      this.heldUntil.set(run, heldUntil);
      // At the next look it would be too late.
      if (heldUntil - now < this.leaseMs * (1 / RENEWALS + MARGIN))
        this.stop(run, new RunLost('its lease could not be renewed'));
      else void this.renew(run);
    }
  }

  /** Also before it is due: when somebody says that its owner was cancelled. */
  async renew(run: Run): Promise<void> {
    const askedAt = performance.now();
    try {
      const words = await Promise.all(run.records.map((_record, i) => this.ask(run, i)));
      const isCancelled = words.includes('cancelled') || run.stopReason instanceof OwnerCancelled;
      if (isCancelled) this.stop(run, new OwnerCancelled(run.kind.graceMs));
      else if (words.includes('lost')) return this.stop(run, new RunLost('its lease ended'));
      // Also in its grace: who comes next on the key waits for its end.
      if (run.envelope.s && !(await this.slots.hold(run)))
        return this.stop(run, new RunLost('its slot ended'));
      // From when it was asked, not from when the answer came.
      this.heldUntil.set(run, askedAt + this.leaseMs);
    } catch (error) {
      this.journal.queueError(run.facts.queue, error);
    }
  }

  private async ask({ envelope, records, jobId, token }: Run, i: number): Promise<string> {
    const [word] = await this.renewing.ask(records[i]!, [jobId, token, envelope.e[i]!, this.leaseMs]);
    return word;
  }

  /** One that ended meanwhile has nothing to be told. */
  private stop(run: Run, reason: OwnerCancelled | RunLost): void {
    if (run.stopReason === undefined && this.running.all().includes(run)) run.stop(reason);
  }
}
