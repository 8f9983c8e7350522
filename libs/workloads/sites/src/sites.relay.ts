import { Injectable, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import { SiteCare } from './sites.care.js';

const EVERY_MS = 2_000;

/** An api tends sites too: while no janitor runs, nothing has to wait for one. */
@Injectable()
export class SitesRelay implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private timer: NodeJS.Timeout | undefined;
  private underWay: Promise<void> | undefined;

  constructor(private readonly care: SiteCare) {}

  onApplicationBootstrap(): void {
    this.timer = setInterval(() => this.turn(), EVERY_MS);
    this.timer.unref();
  }

  async beforeApplicationShutdown(): Promise<void> {
    clearInterval(this.timer);
    await this.underWay;
  }

  private turn(): void {
    this.underWay ??= this.care
      .tendOnce()
      .catch((error: unknown) => this.care.tell(error))
      .finally(() => (this.underWay = undefined));
  }
}
