/** What is to say a sign of life. */
export interface Beating {
  beat(): void;
}

const EVERY_MS = 10_000;
const TURNS = 100;

/** Signs of life, each so often, and spread: each is a call to the store, which many at once would shut others out of. */
export class Beats {
  private readonly turns = Array.from({ length: TURNS }, () => new Set<Beating>());
  private readonly turnOf = new Map<Beating, Set<Beating>>();
  private timer: NodeJS.Timeout | undefined;
  private now = 0;

  /** In the turn with the fewest; so its first comes within a round. */
  add(one: Beating): void {
    const turn = this.turns.reduce((least, other) => (other.size < least.size ? other : least));
    this.turnOf.set(one, turn.add(one));
    this.timer ??= setInterval(() => this.turn(), EVERY_MS / TURNS).unref();
  }

  remove(one: Beating): void {
    this.turnOf.get(one)?.delete(one);
    this.turnOf.delete(one);
    if (this.turnOf.size === 0) this.end();
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
