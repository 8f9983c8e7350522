import { Journal, type Fact } from '#nestjs';
import { Logger, type BeforeApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { setTimeout as pause } from 'node:timers/promises';

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 2_000;

/** The owner is closed and its waiting jobs are removed; its runs may not have ended yet. */
export type OwnerCancel = Extract<Fact, { event: 'owner.cancelled' }>;

/**
 * Carries on what a cancelled owner means for a workload. It hears the cancels of this process, and of processes that died before they told
 * of theirs. A cancel may come twice. Cancels of single jobs are left out.
 */
export abstract class OwnerCancelFollower implements OnModuleInit, BeforeApplicationShutdown {
  protected readonly log: Logger;
  private readonly underWay = new Set<Promise<unknown>>();
  private readonly closing = new AbortController();

  constructor(
    private readonly journal: Journal,
    name: string,
  ) {
    this.log = new Logger(name);
  }

  onModuleInit(): void {
    this.journal.listen((fact) => {
      if (fact.event === 'owner.cancelled' && !fact.jobOnly) this.follow(fact);
    });
  }

  /** Each pending step is tried once more. */
  async beforeApplicationShutdown(): Promise<void> {
    this.closing.abort();
    await Promise.all(this.underWay);
  }

  protected abstract follow(cancel: OwnerCancel): void;

  protected get isClosing(): boolean {
    return this.closing.signal.aborted;
  }

  /** Tries until it succeeds. After the last try, at shutdown, it logs `failure`. Resolves to whether it succeeded. */
  protected retry(failure: string, work: () => Promise<unknown>): Promise<boolean> {
    const done = this.untilDone(failure, work).finally(() => this.underWay.delete(done));
    this.underWay.add(done);
    return done;
  }

  private async untilDone(failure: string, work: () => Promise<unknown>): Promise<boolean> {
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 2)) {
      const isLast = this.isClosing;
      try {
        await work();
        return true;
      } catch (error) {
        if (isLast) {
          this.log.warn(`${failure}: ${(error as Error).message}`);
          return false;
        }
      }
      // At shutdown the pause ends early, for the last try.
      await pause(pauseMs, undefined, { signal: this.closing.signal, ref: false }).catch(() => undefined);
    }
  }
}
