import { setTimeout as pause } from 'node:timers/promises';

const FIRST_LIMIT = 100;
const LEAST_LIMIT = 10;
const MOST_LIMIT = 500;
/** How long work pauses after a stall that is too long, as a multiple of it. */
const REST = 5;
const LONGEST_REST_MS = 2_000;

/** How large the next page of some work is, and how long the work rests before, so that other clients of the store need not wait. */
export class Pace {
  private size = FIRST_LIMIT;

  /** @param mostMs how long another client may have to wait */
  constructor(private readonly mostMs: number) {}

  get limit(): number {
    return this.size;
  }

  /** Half as much after a page that cost too much; a little more after one that cost little. */
  async afterPage(stallMs: number): Promise<void> {
    if (stallMs > this.mostMs) {
      this.size = Math.max(LEAST_LIMIT, Math.floor(this.size / 2));
      await pause(Math.min(LONGEST_REST_MS, stallMs * REST));
    } else if (stallMs < this.mostMs / 2) this.size = Math.min(MOST_LIMIT, Math.ceil(this.size * 1.5));
  }
}
