import { Injectable } from '@nestjs/common';
import { LeaseGauges } from './lease-gauges.js';
import { QuarantineGauge } from './quarantine-gauge.js';
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
    private readonly quarantine: QuarantineGauge,
    private readonly leases: LeaseGauges,
  ) {}

  async update(): Promise<void> {
    await this.queues.update();
    await this.store.update();
    await this.trippedSweeps.update();
    await this.quarantine.update();
    // Last, because the repository of a workload may fail.
    await this.leases.update();
  }
}
