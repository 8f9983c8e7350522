import type { Log } from '#runtime';

const WINDOW_MS = 10_000;
/** How many lines one caller gets in a window, and how many callers get some. */
const LINES = 3;
const CALLERS = 100;

/** A caller that was refused: without a key that is known here, or with one that may not do this. */
export interface Refusal {
  readonly status: number;
  readonly method: string;
  readonly url: string | undefined;
  readonly address: string;
  /** The name of the key, where it is known. */
  readonly by?: string | undefined;
}

/**
 * Writes refused callers into the log: the first few of each key and of each address without one, and of the rest how many there
 * were. Strangers of an address do not hide a key that is used there.
 */
export class RefusalLog {
  private readonly linesOf = new Map<string, number>();
  private unlogged = 0;
  private window: NodeJS.Timeout | undefined;

  constructor(
    private readonly log: Log,
    private readonly windowMs = WINDOW_MS,
  ) {}

  note(refusal: Refusal): void {
    this.window ??= setTimeout(() => this.endWindow(), this.windowMs).unref();
    if (this.hasLineFor(refusal.by === undefined ? `address ${refusal.address}` : `key ${refusal.by}`))
      this.log.info({ event: 'request.refused', ...refusal });
    else this.unlogged += 1;
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
