import { serverSentEvents } from './server-sent.js';
import { Stalls } from './stalls.js';
import { until } from './until.js';

export interface Shown {
  readonly id: string;
  readonly event: string;
  readonly data: { readonly tripId: string; readonly reason?: string; readonly expiresAt?: string };
  readonly at: number;
}

/** A driver's phone: it receives the driver's offers and records all of them. */
export class Phone {
  readonly seen: Shown[] = [];
  beats = 0;
  hasEnded = false;
  private readonly hangUp = new AbortController();

  private constructor(
    readonly driverId: string,
    private readonly heard: (shown: Shown) => void,
  ) {}

  static async connect(
    url: string,
    driverId: string,
    headers: Record<string, string> = {},
    heard: (shown: Shown) => void = () => undefined,
  ): Promise<Phone> {
    const phone = new Phone(driverId, heard);
    const { signal } = phone.hangUp;
    const response = await fetch(`${url}/v1/drivers/${encodeURIComponent(driverId)}/offers`, {
      headers,
      signal,
    });
    if (response.status !== 200) throw new Error(`${response.status}: ${await response.text()}`);
    phone.listen(response.body!).catch(() => (phone.hasEnded = true));
    return phone;
  }

  /** The trip that it shows now. */
  get offered(): string | undefined {
    const standing = new Set<string>();
    for (const { event, data } of this.seen) {
      if (event === 'offer') standing.add(data.tripId);
      else standing.delete(data.tripId);
    }
    return [...standing].at(-1);
  }

  /**
   * Within that time from now, without the time in which this process was stalled: a later offer is late, not missing.
   */
  async untilSeen(event: string, tripId: string, withinMs = 30_000): Promise<Shown> {
    const [stalls, since] = [new Stalls(), Date.now()];
    const what = `${this.driverId} sees ${event} of ${tripId}`;
    try {
      const shown = await until(
        () => this.seen.find((one) => one.event === event && one.data.tripId === tripId),
        what,
        withinMs + 10_000,
      );
      const tookMs = shown.at - since - stalls.within(since, shown.at);
      if (tookMs > withinMs)
        throw new Error(`Not true within ${withinMs} ms, but after ${tookMs} ms: ${what}`);
      return shown;
    } finally {
      stalls.stop();
    }
  }

  saw(event: string, tripId: string): boolean {
    return this.seen.some((one) => one.event === event && one.data.tripId === tripId);
  }

  close(): void {
    this.hangUp.abort();
  }

  private async listen(body: ReadableStream<Uint8Array>): Promise<void> {
    for await (const { id, event, data } of serverSentEvents(body)) {
      if (event === undefined) this.beats += 1;
      else this.see({ id: id!, event, data: JSON.parse(data) as Shown['data'], at: Date.now() });
    }
    this.hasEnded = true;
  }

  private see(shown: Shown): void {
    this.seen.push(shown);
    this.heard(shown);
  }
}
