import type { MooringStore, StoreLock } from '../store/mooring-store.js';

/** A page that hangs for longer loses the lock. */
const LONGEST_PAGE_MS = 10 * 60_000;
const RENEWALS = 4;

/** Does a page of work and renews its lock meanwhile. The signal aborts when the lock is lost, or the process shuts down. */
export async function whileLocked<T>(
  store: MooringStore,
  lock: StoreLock,
  closing: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const lost = new AbortController();
  const renew = (): void => void store.write([], lock).catch(() => lost.abort());
  const timer = setInterval(renew, lock.lockMs / RENEWALS).unref();
  const signal = AbortSignal.any([lost.signal, closing, AbortSignal.timeout(LONGEST_PAGE_MS)]);
  signal.addEventListener('abort', () => clearInterval(timer));
  try {
    return await work(signal);
  } finally {
    clearInterval(timer);
  }
}
