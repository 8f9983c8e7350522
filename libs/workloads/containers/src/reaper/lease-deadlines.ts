import { Reconciler } from '#workload-kit';
import { Injectable } from '@nestjs/common';
import { ContainerEngine } from '../engines/container-engine.js';
import { FleetSignature } from '../fleet-signature.js';
import { LeaseRepository } from '../lease-repository.js';

const LIST_MS = 5_000;

/**
 * Announces the fleet to containers that end by themselves, and passes on their deadlines. A renewal may come
 * from an api on another machine, so the processes with the engine pass it on. Any number of them may.
 */
@Injectable()
export class LeaseDeadlines extends Reconciler {
  private hasFailed = false;

  constructor(
    private readonly engine: ContainerEngine,
    private readonly signature: FleetSignature,
    private readonly leases: LeaseRepository,
  ) {
    super('Leases');
  }

  async reconcileOnce(): Promise<void> {
    if (!this.engine.endsByItself) return;
    const containers = await this.engine.list(this.signature.label, AbortSignal.timeout(LIST_MS));
    if (containers.length > 0) {
      // Announced first: a missing store is no reason to end containers.
      await this.engine.tellAlive();
      const leaseIds = await Promise.all(containers.map((container) => this.signature.leaseOf(container)));
      const leftMs = await this.leases.leftMs(leaseIds.map((id) => id ?? ''));
      for (const [i, { id }] of containers.entries()) {
        if (leftMs[i] !== undefined) await this.engine.endIn(id, leftMs[i]);
      }
    }
    this.hasFailed = false;
  }

  /** Logs the first of several failures in a row. */
  override logError(error: unknown): void {
    if (!this.hasFailed) this.log.warn(`Deadlines of leases are not passed on: ${(error as Error).message}`);
    this.hasFailed = true;
  }
}
