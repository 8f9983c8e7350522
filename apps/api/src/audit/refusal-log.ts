import type { Log } from '#runtime';

const WINDOW_MS = 10_000;
/** Lines per caller and callers per window. */
const LINES = 3;
const CALLERS = 100;

/** A request refused because its key is missing, unknown, or lacks the scope. */
export interface Refusal {
  readonly status: number;
  readonly method: string;
  readonly url: string | undefined;
  readonly address: string;
  /** Name of the key, if known. */
  readonly by?: string | undefined;
}

/**
 * Logs the first few refusals of each key and of each address without a key, and the number of the rest. Keys are counted
 * apart from addresses, so that callers without a key cannot hide a key used from the same address.
 */
export class RefusalLog {
  private readonly linesOf = new Map<string, number>();
  private unlogged = 0;
  private window: NodeJS.Timeout | undefined;

  constructor(
    private readonly log: Log,
    private readonly windowMs = WINDOW_MS,
  ) {}

  /** Whether the refusal was logged by itself. */
  note(refusal: Refusal): boolean {
    this.window ??= setTimeout(() => this.endWindow(), this.windowMs).unref();
    const caller = refusal.by === undefined ? `address ${refusal.address}` : `key ${refusal.by}`;
    const isLogged = this.hasLineFor(caller);
    if (isLogged) this.log.info({ event: 'request.refused', ...refusal });
    else this.unlogged += 1;
    return isLogged;
  }

  private hasLineFor(caller: string): boolean {
    const lines = this.linesOf.get(caller) ?? 0;
    if (lines === LINES || (lines === 0 && this.linesOf.size === CALLERS)) return false;
    this.linesOf.set(caller, lines + 1);
    return true;
  }

  private endWindow(): void {
    const { unlogged: count } = this;
    this.window = undefined;
    this.unlogged = 0;
    this.linesOf.clear();
    if (count > 0) this.log.info({ event: 'requests.refused', count, withinMs: this.windowMs });
  }
}
