import { meansUnavailable, StoreUnavailableError } from '#lifecycle';
import {
  Injectable,
  Logger,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { DiagramReconciler } from './diagram-reconciler.js';
import { isDiagramId, shards } from './diagram-keys.js';
import { DiagramRepository } from './diagram-repository.js';

const EVERY_MS = 2_000;
const AT_ONCE = 20;

/**
 * Finishes what a crashed process left: draws diagrams that still have requesters, and ends those that only a
 * cancelled owner requested. Any number of processes may run it; a diagram that one has taken is hidden from
 * the others for a while.
 */
@Injectable()
export class DiagramReconcileLoop implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly log = new Logger('diagrams');
  private timer: NodeJS.Timeout | undefined;
  private underWay: Promise<void> | undefined;
  private isEnding = false;

  constructor(
    private readonly diagrams: DiagramRepository,
    private readonly reconciler: DiagramReconciler,
  ) {}

  onApplicationBootstrap(): void {
    this.timer = setInterval(() => this.turn(), EVERY_MS);
    this.timer.unref();
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.isEnding = true;
    clearInterval(this.timer);
    await this.underWay;
  }

  async reconcileOnce(): Promise<void> {
    for (const { owner, epoch } of await this.diagrams.takeGone(AT_ONCE)) {
      if (this.isEnding) return;
      await this.reconciler.ownerGone(owner, epoch).catch((error: unknown) => this.tell(error));
    }
    for (const shard of shards) {
      if (this.isEnding) return;
      for (const id of await this.diagrams.take(shard, AT_ONCE)) {
        if (this.isEnding) return;
        // A failing diagram must not hold up the others.
        const done = isDiagramId(id) ? this.reconciler.reconcile(id) : this.reconciler.end(shard, id);
        await done.catch((error: unknown) => this.tell(error));
      }
    }
  }

  private turn(): void {
    this.underWay ??= this.reconcileOnce()
      .catch((error: unknown) => this.tell(error))
      .finally(() => (this.underWay = undefined));
  }

  /** The store's own monitoring logs an outage. */
  private tell(error: unknown): void {
    if (error instanceof StoreUnavailableError || meansUnavailable(error)) return;
    this.log.warn(error);
  }
}
