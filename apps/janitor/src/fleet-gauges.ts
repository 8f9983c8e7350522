import { Injectable } from '@nestjs/common';
import { BacklogGauges } from './backlog-gauges.js';
import { LeaseGauges } from './lease-gauges.js';
import { QueueGauges } from './queue-gauges.js';
import { StoreGauges } from './store-gauges.js';
import { TrippedSweepGauges } from './tripped-sweep-gauges.js';

/** Updates the gauges of state that no event reports. */
@Injectable()
export class FleetGauges {
  constructor(
    private readonly queues: QueueGauges,
    private readonly store: StoreGauges,
    private readonly trippedSweeps: TrippedSweepGauges,
    private readonly leases: LeaseGauges,
    private readonly backlog: BacklogGauges,
  ) {}

  async update(): Promise<void> {
    await this.queues.update();
    await this.store.update();
    await this.trippedSweeps.update();
    await this.leases.update();
    // Last, because a counter provided by a workload may fail.
    await this.backlog.update();
  }
}
