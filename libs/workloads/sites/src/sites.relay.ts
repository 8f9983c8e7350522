import { meansUnavailable, StoreUnavailableError } from '#lifecycle';
import {
  Injectable,
  Logger,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { shards } from './sites.keys.js';
import { SitesRepository } from './sites.repository.js';
import { SitesService } from './sites.service.js';

const EVERY_MS = 2_000;
const AT_ONCE = 20;

/**
 * Does what somebody else has begun and not ended: asks for builds that were not asked for, shows those that are done, tidies up
 * after deleted sites. Any number of processes may; a site that one has taken the others leave alone for a while.
 */
@Injectable()
export class SitesRelay implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly log = new Logger('sites');
  private timer: NodeJS.Timeout | undefined;
  private underWay: Promise<void> | undefined;
  private isEnding = false;

  constructor(
    private readonly repository: SitesRepository,
    private readonly sites: SitesService,
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

  async tendOnce(): Promise<void> {
    for (const shard of shards) {
      if (this.isEnding) return;
      for (const siteId of await this.repository.take(shard, AT_ONCE)) {
        if (this.isEnding) return;
        // One that cannot be tended now does not keep the others waiting.
        await this.sites.tend(siteId).catch((error: unknown) => this.tell(error));
      }
    }
  }

  private turn(): void {
    this.underWay ??= this.tendOnce()
      .catch((error: unknown) => this.tell(error))
      .finally(() => (this.underWay = undefined));
  }

  /** A store that is away is said by others. */
  private tell(error: unknown): void {
    if (error instanceof StoreUnavailableError || meansUnavailable(error)) return;
    this.log.warn(error);
  }
}
