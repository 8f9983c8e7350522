import { storeTime } from '#scripts';
import { Injectable } from '@nestjs/common';
import { StoreAwayError } from './errors.js';
import { LIFECYCLE_DEFAULTS, LifecycleOptions } from './options.js';

// Past this many unanswered calls the store is taken to be stuck: a caller is refused rather than added to the pile.
const MAX_UNANSWERED = 2_000;
const RETRY_AFTER_MS = 2_000;

/**
 * The road of every call that somebody waits for. It fails fast: at once while there is no connection, and after a
 * time limit when the store is frozen, which no option of the client brings about (its commands just wait).
 */
@Injectable()
export class Store {
  readonly redis: LifecycleOptions['redis'];
  private readonly timeoutMs: number;
  private unanswered = 0;

  constructor(options: LifecycleOptions) {
    this.redis = options.redis;
    this.timeoutMs = options.storeTimeoutMs ?? LIFECYCLE_DEFAULTS.storeTimeoutMs;
  }

  /** The store's clock, ms: the one that everybody shares. */
  now(): Promise<number> {
    return this.call(() => storeTime(this.redis));
  }

  /** Every call an API answers comes through here, so it makes one promise and no more. */
  call<T>(ask: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.redis.status !== 'ready') throw away('The store cannot be reached.');
      if (this.unanswered >= MAX_UNANSWERED) throw away('The store is not keeping up.');
      // Also what throws at once is no call that is under way.
      const answer = ask();

      this.unanswered += 1;
      const timer = setTimeout(
        () => reject(away('The store did not answer in time; what you asked for may still happen.')),
        this.timeoutMs,
      );
      // When the limit wins, nobody is left to hear how the answer ends; it is counted all the same.
      const ended = (): void => {
        clearTimeout(timer);
        this.unanswered -= 1;
      };
      answer.then(
        (value) => {
          ended();
          resolve(value);
        },
        (error: Error) => {
          ended();
          reject(meansUnavailable(error) ? away('The connection to the store broke.', error) : error);
        },
      );
    });
  }
}

function away(why: string, cause?: unknown): StoreAwayError {
  return new StoreAwayError(why, RETRY_AFTER_MS, cause === undefined ? undefined : { cause });
}

/** Whether an error of the client's says that the store was not there for a call, rather than anything of the call itself. */
export function meansUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return (
    /Connection is closed|Stream isn't writeable|ECONNREFUSED|ECONNRESET|EPIPE|Command aborted/.test(
      error.message,
    ) ||
    // A Cluster's client gives up after so many tries, whichever node it lost. A full store refuses also a transaction that
    // only reads, and then says no more than EXECABORT.
    /^(LOADING|MASTERDOWN|CLUSTERDOWN|READONLY|NOREPLICAS|OOM|EXECABORT|MISCONF|BUSY|TRYAGAIN|Too many Cluster redirections)\b/.test(
      error.message,
    )
  );
}
