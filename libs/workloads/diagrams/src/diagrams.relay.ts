import { meansUnavailable, StoreUnavailableError } from '#lifecycle';
import {
  Injectable,
  Logger,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { DiagramCare } from './diagram.care.js';
import { isDiagramId, shards } from './diagrams.keys.js';
import { DiagramsRepository } from './diagrams.repository.js';

const EVERY_MS = 2_000;
const AT_ONCE = 20;

/**
 * Does what somebody else has begun and not ended: sees to it that a diagram which several ask for is made,
 * and that what a cancelled owner alone has asked for goes. Any number of
 * processes may; one that has been taken the others leave alone for a while.
 */
@Injectable()
export class DiagramsRelay implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly log = new Logger('diagrams');
  private timer: NodeJS.Timeout | undefined;
  private underWay: Promise<void> | undefined;
  private isEnding = false;

  constructor(
    private readonly diagrams: DiagramsRepository,
    private readonly care: DiagramCare,
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
    for (const { owner, epoch } of await this.diagrams.takeGone(AT_ONCE)) {
      if (this.isEnding) return;
      await this.care.ownerGone(owner, epoch).catch((error: unknown) => this.tell(error));
    }
    for (const shard of shards) {
      if (this.isEnding) return;
      for (const id of await this.diagrams.take(shard, AT_ONCE)) {
        if (this.isEnding) return;
        // One that cannot be tended now does not keep the others waiting.
        const done = isDiagramId(id) ? this.care.tend(id) : this.care.end(shard, id);
        await done.catch((error: unknown) => this.tell(error));
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
