import { Journal, meansUnavailable, StoreUnavailableError, type Fact } from '#lifecycle';
import {
  Injectable,
  Logger,
  Optional,
  type BeforeApplicationShutdown,
  type OnModuleInit,
} from '@nestjs/common';
import { setTimeout as pause } from 'node:timers/promises';
import { DiagramReconciler } from './diagram-reconciler.js';
import { OWNER_TYPE } from './diagram-kinds.js';
import { DiagramRepository } from './diagram-repository.js';

const PAUSE_MS = 500;

/**
 * Ends what a cancelled owner alone has requested. The owner is recorded first, so that other processes
 * finish the work if this one dies. A worker, which may complete a cancel, only records it.
 */
@Injectable()
export class OwnerCancelFollower implements OnModuleInit, BeforeApplicationShutdown {
  private readonly log = new Logger('diagrams');
  private readonly noting = new Set<Promise<void>>();
  private readonly closing = new AbortController();

  constructor(
    private readonly journal: Journal,
    private readonly diagrams: DiagramRepository,
    @Optional() private readonly care?: DiagramReconciler,
  ) {}

  onModuleInit(): void {
    this.journal.listen((fact) => this.follow(fact));
  }

  /** Each pending record is tried once more; other processes do the rest. */
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

  /**
   * The first attempt runs before the cancel is recorded as complete, because the event is not repeated after
   * that.
   */
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

  /** The reconcile loop does the rest. */
  private tell(error: unknown): void {
    if (!(error instanceof StoreUnavailableError) && !meansUnavailable(error)) this.log.warn(error);
  }
}
