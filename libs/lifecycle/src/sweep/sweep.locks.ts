import { Injectable } from '@nestjs/common';
import { randomBytes } from 'node:crypto';
import { Journal } from '../journal.js';
import { Keys } from '../keys.js';
import { LIFECYCLE_DEFAULTS, LifecycleOptions } from '../options.js';
import { runScript } from '../scripts.js';
import { Store } from '../store.js';
import type { SweepKind } from './sweep.js';

/** How often a lock is kept in its time: one of these may be lost. */
const KEEPINGS = 4;

/** Leave to do one sort of sweep, as long as its signal has not aborted. */
export interface HeldLock {
  readonly token: string;
  readonly fence: number;
  /** Aborts when the lock is another's, or may be: by this process's own clock, before its time is over. */
  readonly signal: AbortSignal;
  /** Its holder gets on. Who says so for too long no more, because it hangs, does not keep it. */
  beat(): void;
  give(): Promise<void>;
}

/** One process at a time does a sort of sweep. */
@Injectable()
export class SweepLocks {
  readonly lockMs: number;
  private readonly longestPageMs: number;
  private readonly keys: Keys;

  constructor(
    options: LifecycleOptions,
    private readonly store: Store,
    private readonly journal: Journal,
  ) {
    this.keys = new Keys(options.prefix ?? LIFECYCLE_DEFAULTS.prefix);
    this.lockMs = options.sweeps?.lockMs ?? LIFECYCLE_DEFAULTS.sweepLockMs;
    this.longestPageMs = options.sweeps?.longestPageMs ?? LIFECYCLE_DEFAULTS.sweepLongestPageMs;
  }

  /** Nothing when another process has it. */
  async take(kind: SweepKind): Promise<HeldLock | undefined> {
    const token = randomBytes(9).toString('base64url');
    const askedAt = performance.now();
    const [word, fence] = await this.ask(kind, 'take', token);
    if (word !== 'taken') return undefined;
    return this.hold(kind, token, Number(fence), askedAt);
  }

  private hold(kind: SweepKind, token: string, fence: number, takenAt: number): HeldLock {
    const lost = new AbortController();
    let heldUntil = takenAt + this.lockMs;
    let beatAt = takenAt;
    const kept = (askedAt: number): void => void (heldUntil = Math.max(heldUntil, askedAt + this.lockMs));
    const look = async (): Promise<void> => {
      const askedAt = performance.now();
      if (lost.signal.aborted) return;
      if (askedAt - beatAt > this.longestPageMs) {
        lost.abort();
        throw new Error(`a page takes longer than ${this.longestPageMs} ms: it is left to another process`);
      }
      // From when it was last asked for, not from when that was answered: at the next look it would be too late.
      if (askedAt > heldUntil - this.lockMs / KEEPINGS) return lost.abort();
      const [word] = await this.ask(kind, 'keep', token);
      if (word === 'kept') kept(askedAt);
      else lost.abort();
    };
    const timer = setInterval(() => {
      look().catch((error: unknown) => this.journal.sweepTrouble(kind, 'its lock', error));
    }, this.lockMs / KEEPINGS);
    timer.unref();
    return {
      token,
      fence,
      signal: lost.signal,
      beat: () => void (beatAt = performance.now()),
      give: async () => {
        clearInterval(timer);
        if (!lost.signal.aborted) await this.ask(kind, 'give', token);
      },
    };
  }

  private ask(kind: SweepKind, act: string, token: string): Promise<string[]> {
    return this.store.call(
      () =>
        runScript(
          this.store.redis,
          'lock',
          [`${this.keys.sweeps}:lock:${kind}`],
          [act, token, this.lockMs],
        ) as Promise<string[]>,
    );
  }
}
