/** How long a handler waits for its progress to be stored. */
const WAITS_AT_MOST_MS = 1_000;

/**
 * Stores how far a run is, one report at a time: of the reports that come while one is being stored only the latest is kept. The run does
 * not fail with it, nor wait long for it.
 */
export class Progress {
  private latest: { readonly value: unknown } | undefined;
  private sending: Promise<void> | undefined;

  constructor(
    private readonly store: (value: unknown) => Promise<void>,
    private readonly failed: (error: unknown) => void,
  ) {}

  report(value: unknown): Promise<void> {
    this.latest = { value };
    this.sending ??= this.send().finally(() => (this.sending = undefined));
    let timer: NodeJS.Timeout;
    const limit = new Promise<void>((resolve) => (timer = setTimeout(resolve, WAITS_AT_MOST_MS).unref()));
    return Promise.race([this.sending, limit]).finally(() => clearTimeout(timer));
  }

  private async send(): Promise<void> {
    while (this.latest) {
      const { value } = this.latest;
      this.latest = undefined;
      await this.store(value).catch(this.failed);
    }
  }
}
