import { JanitorTasks } from '#fleet';
import { Runtime } from '#runtime';
import { LeaseRepository, LIVE_STATES } from '#workloads/containers';
import { Injectable, Optional, type OnModuleInit } from '@nestjs/common';
import { Gauge } from 'prom-client';
import { BacklogGauges } from './backlog-gauges.js';

/** Shows the number of leases by state, and those past due. */
@Injectable()
export class LeaseGauges implements OnModuleInit {
  private readonly leases: Gauge<'state'>;

  constructor(
    private readonly backlog: BacklogGauges,
    private readonly tasks: JanitorTasks,
    { metrics }: Runtime,
    @Optional() private readonly repository?: LeaseRepository,
  ) {
    this.leases = new Gauge({
      name: 'mooring_leases',
      help: 'Leases in a state in which their container is there, or may be.',
      labelNames: ['state'],
      registers: [metrics.registry],
    });
    for (const state of LIVE_STATES) this.leases.set({ state }, 0);
  }

  /** Every lease is past due briefly, so only those count that are past due for a whole interval. */
  onModuleInit(): void {
    const { repository } = this;
    const sweep = this.tasks.sweeps.find(({ kind }) => kind === 'leases');
    if (repository && sweep) this.backlog.countBy('leases', () => repository.pastDue(sweep.everyMs));
  }

  async update(): Promise<void> {
    const counts = await this.repository?.counts();
    for (const [state, count] of Object.entries(counts ?? {})) this.leases.set({ state }, count);
  }
}
