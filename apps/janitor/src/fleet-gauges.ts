import { Injectable } from '@nestjs/common';
import { BacklogGauges } from './backlog-gauges.js';
import { LeaseGauges } from './lease-gauges.js';
import { QueueGauges } from './queue-gauges.js';
import { StoreGauges } from './store-gauges.js';
import { TrippedSweepGauges } from './tripped-sweep-gauges.js';

/** What nobody announces, and somebody has to look at. */
@Injectable()
export class FleetGauges {
  constructor(
    private readonly queues: QueueGauges,
    private readonly store: StoreGauges,
    private readonly trips: TrippedSweepGauges,
    private readonly leases: LeaseGauges,
    private readonly backlog: BacklogGauges,
  ) {}

  async update(): Promise<void> {
    await this.queues.update();
    await this.store.update();
    await this.trips.update();
    await this.leases.update();
    // Last: what others count may fail.
    await this.backlog.update();
  }
}
