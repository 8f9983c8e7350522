import {
  Injectable,
  Logger,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { ContainerEngine } from '../engines/container-engine.js';
import { FleetSignature } from '../fleet-signature.js';
import { LeaseRepository } from '../lease-repository.js';

const EVERY_MS = 1_000;
const LIST_MS = 5_000;

/**
 * Announces the fleet to containers that end by themselves, and passes on their deadlines. A renewal may come
 * from an api on another machine, so the processes with the engine pass it on. Any number of them may.
 */
@Injectable()
export class LeaseDeadlines implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly log = new Logger('Leases');
  private timer: NodeJS.Timeout | undefined;
  private underWay: Promise<void> | undefined;
  private hasFailed = false;

  constructor(
    private readonly engine: ContainerEngine,
    private readonly signature: FleetSignature,
    private readonly leases: LeaseRepository,
  ) {}

  onApplicationBootstrap(): void {
    if (!this.engine.endsByItself) return;
    this.timer = setInterval(() => this.turn(), EVERY_MS);
    this.turn();
  }

  async beforeApplicationShutdown(): Promise<void> {
    clearInterval(this.timer);
    await this.underWay;
  }

  private turn(): void {
    this.underWay ??= this.tellOnce()
      .then(() => (this.hasFailed = false))
      .catch((error: Error) => {
        if (!this.hasFailed) this.log.warn(`Deadlines of leases are not passed on: ${error.message}`);
        this.hasFailed = true;
      })
      .then(() => (this.underWay = undefined));
  }

  private async tellOnce(): Promise<void> {
    const containers = await this.engine.list(this.signature.label, AbortSignal.timeout(LIST_MS));
    if (containers.length === 0) return;
    // Announced first: a missing store is no reason to end containers.
    await this.engine.tellAlive();
    const leaseIds = await Promise.all(containers.map((container) => this.signature.leaseOf(container)));
    const leftMs = await this.leases.leftMs(leaseIds.map((id) => id ?? ''));
    for (const [i, { id }] of containers.entries()) {
      if (leftMs[i] !== undefined) await this.engine.endIn(id, leftMs[i]);
    }
  }
}
