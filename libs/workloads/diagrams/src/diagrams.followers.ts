import { Journal, meansUnavailable, StoreUnavailableError, type Fact } from '#lifecycle';
import {
  Injectable,
  Logger,
  Optional,
  type BeforeApplicationShutdown,
  type OnModuleInit,
} from '@nestjs/common';
import { setTimeout as pause } from 'node:timers/promises';
import { DiagramCare } from './diagram.care.js';
import { OWNER_TYPE } from './diagrams.kinds.js';
import { DiagramsRepository } from './diagrams.repository.js';

const PAUSE_MS = 500;

/**
 * When an owner is cancelled, by whomever, what it alone has asked for is over. It is noted first, so that others finish it;
 * in a worker, which may be who brings a cancel to its end, that is all.
 */
@Injectable()
export class DiagramFollowers implements OnModuleInit, BeforeApplicationShutdown {
  private readonly log = new Logger('diagrams');
  private readonly noting = new Set<Promise<void>>();
  private readonly closing = new AbortController();

  constructor(
    private readonly journal: Journal,
    private readonly diagrams: DiagramsRepository,
    @Optional() private readonly care?: DiagramCare,
  ) {}

  onModuleInit(): void {
    this.journal.listen((fact) => this.follow(fact));
  }

  /** Each is noted once more, and no longer; the rest is others'. */
  async beforeApplicationShutdown(): Promise<void> {
    this.closing.abort();
    await Promise.all(this.noting);
  }

  private follow(fact: Fact): void {
    if (fact.event !== 'owner.cancelled' || fact.job !== undefined || fact.epoch === null) return;
    if (fact.owner.startsWith(`${OWNER_TYPE}:`)) return;
    const { owner, epoch } = fact;
    const noted = this.note(owner, epoch).finally(() => this.noting.delete(noted));
    this.noting.add(noted);
    noted
      .then(() => (this.closing.signal.aborted ? undefined : this.care?.ownerGone(owner, epoch)))
      .catch((error: unknown) => this.tell(error));
  }

  /** The first time at once: before whoever cancels has noted that it is done, and it is told no more. */
  private async note(owner: string, epoch: string): Promise<void> {
    for (;;) {
      const isLast = this.closing.signal.aborted;
      try {
        return await this.diagrams.noteGone(owner, epoch);
      } catch (error) {
        if (isLast) return this.log.warn(`What ${owner} asked for stays: ${(error as Error).message}`);
      }
      await pause(PAUSE_MS, undefined, { signal: this.closing.signal, ref: false }).catch(() => undefined);
    }
  }

  /** A relay does what is left. */
  private tell(error: unknown): void {
    if (!(error instanceof StoreUnavailableError) && !meansUnavailable(error)) this.log.warn(error);
  }
}
