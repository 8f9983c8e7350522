import { Owners, Slots } from '#core';
import { WorkerHost } from '@nestjs/bullmq';
import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import type { Worker } from 'bullmq';
import { MooringStore } from './mooring-store.js';

/** Closes the connections of `Owners` and `Slots` when no processor can use them any more. */
@Injectable()
export class StoreAccess implements OnApplicationShutdown {
  constructor(
    @Inject(Owners) private readonly owners: Owners,
    @Inject(Slots) private readonly slots: Slots,
    @Inject(MooringStore) private readonly store: MooringStore,
    @Inject(DiscoveryService) private readonly discovery: DiscoveryService,
  ) {}

  /** BullModule closes the workers in the same phase of the shutdown, and Nest does not say which module comes first. */
  async onApplicationShutdown(): Promise<void> {
    await Promise.allSettled(this.workers().map((worker) => worker.close()));
    // A connection that is being made rejects when it is closed.
    await Promise.allSettled([this.owners.close(), this.slots.close(), this.store.close()]);
  }

  private workers(): Worker[] {
    return this.discovery
      .getProviders()
      .map(({ instance }) => instance as unknown)
      .filter((instance) => instance instanceof WorkerHost)
      .flatMap(workerOf);
  }
}

/** A host has no worker when the application did not come as far, or starts its workers itself. */
function workerOf(host: WorkerHost): Worker[] {
  try {
    return [host.worker];
  } catch {
    return [];
  }
}
