import { Injectable, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import { SiteReconciler } from './site-reconciler.js';

const EVERY_MS = 2_000;

/** Lets every api reconcile sites too, so that no change waits for a janitor to start. */
@Injectable()
export class SiteReconcileLoop implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private timer: NodeJS.Timeout | undefined;
  private underWay: Promise<void> | undefined;

  constructor(private readonly reconciler: SiteReconciler) {}

  onApplicationBootstrap(): void {
    this.timer = setInterval(() => this.turn(), EVERY_MS);
    this.timer.unref();
  }

  async beforeApplicationShutdown(): Promise<void> {
    clearInterval(this.timer);
    await this.underWay;
  }

  private turn(): void {
    this.underWay ??= this.reconciler
      .reconcileOnce()
      .catch((error: unknown) => this.reconciler.logError(error))
      .finally(() => (this.underWay = undefined));
  }
}
