import { JanitorTasks } from '#fleet';
import { LoadReader, Quarantine, QueueReader, SweepBook } from '#nestjs';
import { Runtime, storeMemory, type Metrics } from '#runtime';
import { LeaseRepository, LIVE_STATES } from '#workloads/containers';
import { Injectable, Optional } from '@nestjs/common';
import { SWEEP_KINDS } from './sweep-kinds.js';

/** Shows the state that no event reports. Only the janitor does, because the numbers describe the whole fleet. */
@Injectable()
export class FleetGauges {
  private readonly gauges: ReturnType<typeof gaugesIn>;

  constructor(
    private readonly runtime: Runtime,
    private readonly queues: QueueReader,
    private readonly loads: LoadReader,
    private readonly book: SweepBook,
    private readonly quarantine: Quarantine,
    private readonly tasks: JanitorTasks,
    @Optional() private readonly leases?: LeaseRepository,
  ) {
    this.gauges = gaugesIn(runtime.metrics);
    for (const state of LIVE_STATES) this.gauges.leases.set({ state }, 0);
  }

  async update(): Promise<void> {
    await this.updateQueues();
    const { usedBytes, limitBytes } = await storeMemory(this.runtime.redis);
    this.gauges.usedMemory.set(usedBytes);
    this.gauges.maxMemory.set(limitBytes);
    // Read from the store, because another janitor or an operator may have changed it.
    const tripped = await this.book.trips();
    for (const sweep of SWEEP_KINDS) this.gauges.tripped.set({ sweep }, tripped[sweep] ? 1 : 0);
    this.gauges.quarantined.set(await this.quarantine.count());
    // Last, because the repository of a workload may fail.
    await this.updateLeases();
  }

  private async updateQueues(): Promise<void> {
    for (const { queue, counts, oldestWaitingMs, paused } of await this.queues.read()) {
      for (const [state, count] of Object.entries(counts)) this.gauges.jobs.set({ queue, state }, count);
      this.gauges.oldestWaiting.set({ queue }, (oldestWaitingMs ?? 0) / 1_000);
      this.gauges.paused.set({ queue }, paused ? 1 : 0);
    }
    for (const { queue, load } of await this.loads.all()) this.gauges.load.set({ queue }, load);
  }

  /** Every lease is past due briefly, so only those count that are past due for a whole interval. */
  private async updateLeases(): Promise<void> {
    const sweep = this.tasks.sweeps.find(({ kind }) => kind === 'leases');
    if (!this.leases || !sweep) return;
    const counts = await this.leases.counts();
    for (const [state, count] of Object.entries(counts)) this.gauges.leases.set({ state }, count);
    this.gauges.leasesPastDue.set(await this.leases.pastDue(sweep.everyMs));
  }
}

function gaugesIn(metrics: Metrics) {
  return {
    jobs: metrics.gauge('mooring_queue_jobs', 'Jobs of a queue in a state.', ['queue', 'state']),
    oldestWaiting: metrics.gauge(
      'mooring_queue_oldest_waiting_seconds',
      'For how long the oldest waiting job of a queue has been due; 0 when none waits.',
      ['queue'],
    ),
    load: metrics.gauge(
      'mooring_queue_load',
      'Jobs of a queue that need a worker now: those that run, and those that could start.',
      ['queue'],
    ),
    paused: metrics.gauge('mooring_queue_paused', 'Whether a queue is held back.', ['queue']),
    usedMemory: metrics.gauge(
      'mooring_store_used_memory_bytes',
      'Memory that the store uses; of a Cluster, its fullest node.',
    ),
    maxMemory: metrics.gauge(
      'mooring_store_max_memory_bytes',
      'The limit of that memory, at which the store refuses writes; 0 when it has none.',
    ),
    tripped: metrics.gauge(
      'mooring_sweep_tripped',
      'Whether a sweep is tripped: it removes nothing until an operator acknowledges or forces it.',
      ['sweep'],
    ),
    quarantined: metrics.gauge(
      'mooring_jobs_quarantined',
      'Jobs that retention gave up on, because their artifacts could not be deleted again and again.',
    ),
    leases: metrics.gauge(
      'mooring_leases',
      'Leases in a state in which their container is there, or may be.',
      ['state'],
    ),
    leasesPastDue: metrics.gauge(
      'mooring_leases_past_due',
      'Leases that are over while what they hold is still there.',
    ),
  };
}
