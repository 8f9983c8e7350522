import { Injectable, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import { setMaxListeners } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { Journal } from '../journal.js';
import { digest, Keys, UNTOLD_KEPT } from '../keys.js';
import { News } from '../news/news.js';
import { LIFECYCLE_DEFAULTS, LifecycleOptions } from '../options.js';
import { runScript } from '../scripts.js';
import { Store } from '../store.js';
import { CleanUp } from './clean-up.js';
import type { Target } from './order.js';
import { Receipts } from './receipts.js';

const AT_A_TIME = 16;
/** A cancel that was meant and did not come to be: for so long it may still be on its way to the store. */
export const MAY_STILL_COME_MS = 60_000;
const FIRST_PAUSE_MS = 25;
const LONGEST_PAUSE_MS = 1_000;

interface Following {
  /** After the first pass: what could be removed at once is removed. */
  readonly tried: Promise<void>;
  /** Whether nothing is left; not when this process stopped before. */
  readonly done: Promise<boolean>;
}

/**
 * Brings every cancel to its end: those of this process, and those that another left, because it died or stopped. Two that
 * clean up after the same cancel do each other no harm.
 */
@Injectable()
export class CleanUps implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly keys: Keys;
  private readonly underWay = new Map<string, Following>();
  private readonly closing = new AbortController();
  /** How long the rest of a cancel is left to whoever began it, and how often everybody looks for what was left. */
  private readonly everyMs: number;
  private readonly receiptKeepMs: number;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    options: LifecycleOptions,
    private readonly store: Store,
    private readonly cleanUp: CleanUp,
    private readonly receipts: Receipts,
    private readonly journal: Journal,
    private readonly news: News,
  ) {
    this.keys = new Keys(options.prefix ?? LIFECYCLE_DEFAULTS.prefix);
    // One for each clean-up that pauses, of which there may be many.
    setMaxListeners(0, this.closing.signal);
    this.receiptKeepMs = options.receiptKeepMs ?? LIFECYCLE_DEFAULTS.receiptKeepMs;
    this.everyMs = options.cleanUpEveryMs ?? LIFECYCLE_DEFAULTS.cleanUpEveryMs;
  }

  onApplicationBootstrap(): void {
    // With some chance in it, so that a fleet does not look all at once.
    const every = this.everyMs * (0.75 + Math.random() / 2);
    this.timer = setInterval(() => {
      this.resume().catch((error: unknown) => this.journal.queueError('cancels', error));
    }, every);
    this.timer.unref();
  }

  async beforeApplicationShutdown(): Promise<void> {
    clearInterval(this.timer);
    this.closing.abort();
    await Promise.all([...this.underWay.values()].map(({ done }) => done));
  }

  /** Before the cancel itself: should its caller die, it is found. False when the id is of another cancel. */
  async intend(target: Target): Promise<boolean> {
    const { cancelId, owner, job } = target;
    const text = JSON.stringify({ cancelId, owner, ...(job !== undefined && { job }) });
    // Of one job alone its own end tells.
    const isTold = job === undefined && this.news.areCancelsTold;
    return (
      (await this.note('intend', digest(cancelId), this.everyMs, text, isTold ? UNTOLD_KEPT : 0)) === 'ok'
    );
  }

  /** It is not to be after all. */
  async forget(target: Target): Promise<void> {
    await this.forgetById(digest(target.cancelId), 0);
  }

  /** Cleans up until nothing is left, or this process stops. */
  follow(target: Target): Following {
    const id = digest(target.cancelId);
    let following = this.underWay.get(id);
    if (!following) {
      let tell!: () => void;
      const tried = new Promise<void>((resolve) => (tell = resolve));
      // Also in the middle of a long pass: else everybody else would take it up beside this process.
      const mine = setInterval(() => {
        this.note('later', id, this.everyMs).catch((error: unknown) =>
          this.journal.queueError('cancels', error),
        );
      }, this.everyMs / 2);
      const done = this.untilDone(target, id, tell).finally(() => {
        clearInterval(mine);
        this.underWay.delete(id);
      });
      following = { tried, done };
      this.underWay.set(id, following);
    }
    return following;
  }

  /** Takes up what nobody has looked after for a while; answers how much of it has to be gone on with. */
  async resume(): Promise<number> {
    const { redis } = this.store;
    const now = await this.store.now();
    const due = await this.store.call(() =>
      redis.zrangebyscore(this.keys.cancels, '-inf', now, 'LIMIT', 0, AT_A_TIME),
    );
    const left = due.filter((id) => !this.underWay.has(id));
    const isTakenUp = await Promise.all(left.map((id) => this.resumeOne(id)));
    return isTakenUp.filter(Boolean).length;
  }

  private async resumeOne(id: string): Promise<boolean> {
    const target = await this.receipts.target(id);
    if (!target) {
      await this.note('done', id);
      return false;
    }
    await this.note('later', id, this.everyMs);
    const isPending = await this.cleanUp.isPending(target);
    const receipt = await this.receipts.read(target);
    if (isPending) {
      // Who died may have told nobody, and what a dead worker holds may last.
      if (receipt) this.journal.ownerCancelling({ why: 'cancelled', ...receipt });
      this.follow(target);
      return true;
    }
    // One that is not done came to be after it was asked whether it is pending: the next look finds it.
    if (receipt?.done) await this.note('done', id);
    else if (!receipt) await this.forgetById(id, MAY_STILL_COME_MS);
    return false;
  }

  private async untilDone(target: Target, id: string, tried: () => void): Promise<boolean> {
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 2)) {
      try {
        if (await this.cleanUp.pass(target, this.closing.signal)) {
          await this.note('done', id);
          tried();
          return true;
        }
      } catch (error) {
        this.journal.queueError('cancels', error);
      }
      tried();
      if (this.closing.signal.aborted) return false;
      await pause(pauseMs, undefined, { signal: this.closing.signal, ref: false }).catch(stopped);
    }
  }

  private async note(
    what: 'intend' | 'later' | 'done',
    id: string,
    inMs = 0,
    target = '',
    untold = 0,
  ): Promise<string> {
    const args = ['', what, id, inMs, target, this.receiptKeepMs, untold];
    const [word] = await this.store.call(
      () => runScript(this.store.redis, 'intent', [this.keys.cancels], args) as Promise<[string]>,
    );
    return word;
  }

  /** Unless it was meant again less than so long ago. */
  private async forgetById(id: string, agoMs: number): Promise<void> {
    const args = [id, this.receiptKeepMs, agoMs];
    await this.store.call(() => runScript(this.store.redis, 'forget', [this.keys.cancels], args));
  }
}

function stopped(): void {
  // The process stops: the next look at the signal says so.
}
