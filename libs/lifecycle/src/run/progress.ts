/** How long a handler waits for its progress to be noted. It is news, and not worth more of its time. */
const PATIENCE_MS = 1_000;

/**
 * Passes on how far a run is, one piece of news at a time: what comes while one is under way waits, and only the latest of
 * it. However it goes, the run goes on: it neither fails of it nor waits long for it.
 */
export class Progress {
  private latest: { readonly value: unknown } | undefined;
  private patience = Promise.resolve();
  private isTelling = false;
  private isOver = false;

  constructor(
    private readonly tell: (value: unknown) => Promise<void>,
    private readonly failed: (error: unknown) => void,
  ) {}

  report(value: unknown): Promise<void> {
    if (this.isOver) return Promise.resolve();
    this.latest = { value };
    if (!this.isTelling) this.patience = this.begin();
    return this.patience;
  }

  /** Of a run that is over nobody wants to know. */
  stop(): void {
    this.isOver = true;
  }

  /** Once patience has run out, who reports meanwhile does not wait at all. */
  private begin(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, PATIENCE_MS);
      timer.unref();
      void this.send().then(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }

  private async send(): Promise<void> {
    this.isTelling = true;
    while (this.latest && !this.isOver) {
      const { value } = this.latest;
      this.latest = undefined;
      try {
        await this.tell(value);
      } catch (error) {
        this.failed(error);
      }
    }
    this.isTelling = false;
  }
}
