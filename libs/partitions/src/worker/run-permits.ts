/** How often a run may hand its permit to the next job of its partition while others wait for one. */
const MOST_IN_A_ROW = 16;

interface Waiting {
  readonly holder: object;
  readonly token: string;
  readonly give: (permitted: boolean) => void;
}

/**
 * The permits that the workers of all partitions share: one for each run. The next free one goes to the worker that has waited longest, so
 * no partition is left behind by one with many jobs.
 */
export class RunPermits {
  private readonly held = new Map<string, number>();
  private waiting: Waiting[] = [];

  constructor(private most: number) {}

  setMost(most: number): void {
    this.most = most;
    this.giveFree();
  }

  /** Is there a permit, or has the run one already? */
  take(token: string): boolean {
    if (this.held.has(token)) return true;
    if (this.held.size >= this.most) return false;
    this.held.set(token, 0);
    return true;
  }

  /** Answers false if the holder was dismissed while it waited. */
  wait(holder: object, token: string): Promise<boolean> {
    return new Promise((give) => this.waiting.push({ holder, token, give }));
  }

  /** May the run go on with the next job of its partition? */
  mayGoOn(token: string): boolean {
    // There may be fewer permits than when it got its own.
    if (this.held.size > this.most) return false;
    const inARow = (this.held.get(token) ?? 0) + 1;
    this.held.set(token, inARow);
    return this.waiting.length === 0 || inARow < MOST_IN_A_ROW;
  }

  free(token: string): void {
    this.held.delete(token);
    this.giveFree();
  }

  /** A worker that stops fetching waits for no permit. */
  dismiss(holder: object): void {
    const dismissed = this.waiting.filter((each) => each.holder === holder);
    this.waiting = this.waiting.filter((each) => each.holder !== holder);
    for (const { give } of dismissed) give(false);
  }

  private giveFree(): void {
    while (this.waiting[0] && this.take(this.waiting[0].token)) this.waiting.shift()!.give(true);
  }
}
