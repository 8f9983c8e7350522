import { Runtime, storeMemory } from '#runtime';
import { Injectable } from '@nestjs/common';
import { Gauge } from 'prom-client';

/** Shows how full the store is. */
@Injectable()
export class StoreGauges {
  private readonly used: Gauge;
  private readonly limit: Gauge;

  constructor(private readonly runtime: Runtime) {
    const registers = [runtime.metrics.registry];
    this.used = new Gauge({
      name: 'mooring_store_used_memory_bytes',
      help: 'Memory that the store uses; of a Cluster, its fullest node.',
      registers,
    });
    this.limit = new Gauge({
      name: 'mooring_store_max_memory_bytes',
      help: 'The limit of that memory, at which the store refuses writes; 0 when it has none.',
      registers,
    });
  }

  async update(): Promise<void> {
    const { usedBytes, limitBytes } = await storeMemory(this.runtime.redis);
    this.used.set(usedBytes);
    this.limit.set(limitBytes);
  }
}
