export interface HeartbeatTarget {
  beat(): void;
}

const EVERY_MS = 10_000;
const TURNS = 100;

/**
 * Calls each target once per interval. Targets are spread over the interval, because each heartbeat reads the
 * store and many at once would delay other callers.
 */
export class Heartbeats {
  private readonly turns = Array.from({ length: TURNS }, () => new Set<HeartbeatTarget>());
  private timer: NodeJS.Timeout | undefined;
  private now = 0;

  /**
   * Adds the target to the tick with the fewest targets, so its first heartbeat comes within one interval.
   */
  add(one: HeartbeatTarget): void {
    const turn = this.turns.reduce((least, other) => (other.size < least.size ? other : least));
    turn.add(one);
    this.timer ??= setInterval(() => this.turn(), EVERY_MS / TURNS).unref();
  }

  remove(one: HeartbeatTarget): void {
    for (const turn of this.turns) turn.delete(one);
    if (this.turns.every(({ size }) => size === 0)) this.end();
  }

  end(): void {
    clearInterval(this.timer);
    this.timer = undefined;
  }

  private turn(): void {
    this.now = (this.now + 1) % TURNS;
    for (const one of this.turns[this.now]!) one.beat();
  }
}
