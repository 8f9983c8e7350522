import { Runtime, storeMemory } from '#runtime';
import { Injectable } from '@nestjs/common';
import type { Gauge } from 'prom-client';

/** Shows how full the store is. */
@Injectable()
export class StoreGauges {
  private readonly used: Gauge;
  private readonly limit: Gauge;

  constructor(private readonly runtime: Runtime) {
    this.used = runtime.metrics.gauge(
      'mooring_store_used_memory_bytes',
      'Memory that the store uses; of a Cluster, its fullest node.',
    );
    this.limit = runtime.metrics.gauge(
      'mooring_store_max_memory_bytes',
      'The limit of that memory, at which the store refuses writes; 0 when it has none.',
    );
  }

  async update(): Promise<void> {
    const { usedBytes, limitBytes } = await storeMemory(this.runtime.redis);
    this.used.set(usedBytes);
    this.limit.set(limitBytes);
  }
}
