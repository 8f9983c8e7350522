import { JanitorTasks } from '#fleet';
import { Runtime } from '#runtime';
import { LeaseRepository, LIVE_STATES } from '#workloads/containers';
import { Injectable, Optional } from '@nestjs/common';
import type { Gauge } from 'prom-client';

/** Shows the number of leases by state, and those past due. */
@Injectable()
export class LeaseGauges {
  private readonly leases: Gauge<'state'>;
  private readonly pastDue: Gauge;

  constructor(
    private readonly tasks: JanitorTasks,
    { metrics }: Runtime,
    @Optional() private readonly repository?: LeaseRepository,
  ) {
    this.leases = metrics.gauge(
      'mooring_leases',
      'Leases in a state in which their container is there, or may be.',
      ['state'],
    );
    this.pastDue = metrics.gauge(
      'mooring_leases_past_due',
      'Leases that are over while what they hold is still there.',
    );
    for (const state of LIVE_STATES) this.leases.set({ state }, 0);
  }

  /** Every lease is past due briefly, so only those count that are past due for a whole interval. */
  async update(): Promise<void> {
    const sweep = this.tasks.sweeps.find(({ kind }) => kind === 'leases');
    if (!this.repository || !sweep) return;
    const counts = await this.repository.counts();
    for (const [state, count] of Object.entries(counts)) this.leases.set({ state }, count);
    this.pastDue.set(await this.repository.pastDue(sweep.everyMs));
  }
}
