import type { ServerResponse } from 'node:http';
import type { OfferEntry, OfferLook } from '../trips.repository.js';

/** A reader who lets more than this lie unread is cut off; it comes back and goes on from what it saw last. */
const MOST_UNREAD_BYTES = 64 * 1024;
/** How soon a browser comes back after its connection broke. */
const RETRY_MS = 1_000;
const LOOK_AGAIN_MS = 500;

/** One phone that looks: what its driver is offered, as server-sent events. */
export class OfferStream {
  private isLooking = false;
  private hasNews = false;
  private again: NodeJS.Timeout | undefined;

  constructor(
    private readonly out: ServerResponse,
    private readonly look: (last: string) => Promise<OfferLook>,
    private last: string,
    private readonly failed: (error: unknown) => void,
  ) {}

  begin(first: OfferLook): void {
    this.out.write(`retry: ${RETRY_MS}\n\n`);
    this.show(first);
    void this.tell();
  }

  /** There may be something new. One look at a time, and one more when something came meanwhile. */
  async tell(): Promise<void> {
    this.hasNews = true;
    if (this.isLooking) return;
    this.isLooking = true;
    try {
      while (this.hasNews && this.isOpen) {
        this.hasNews = false;
        const found = await this.look(this.last);
        this.show(found);
        if (!found.hasMore) continue;
        this.hasNews = true;
        await this.isRead();
      }
    } catch (error) {
      this.failed(error);
      this.again ??= setTimeout(() => {
        this.again = undefined;
        void this.tell();
      }, LOOK_AGAIN_MS).unref();
    } finally {
      this.isLooking = false;
    }
  }

  /** Proxies close a connection on which nothing is said; and what nobody was told of is seen now. */
  beat(): void {
    this.write(':\n\n');
    void this.tell();
  }

  end(): void {
    this.out.end();
  }

  private get isOpen(): boolean {
    return !this.out.writableEnded && !this.out.destroyed;
  }

  /** An offer that was withdrawn before it could be shown is none, and so is one whose time is over. */
  private show({ entries, standing, leftMs, newest }: OfferLook): void {
    const isOver = ({ event, tripId }: OfferEntry): boolean =>
      event === 'offer' && (tripId !== standing || leftMs <= 0);
    for (const entry of entries) {
      if (!isOver(entry)) this.write(render(entry));
    }
    this.last = newest;
  }

  /** A phone that was away for long has much to hear, and is not cut off because of it. */
  private async isRead(): Promise<void> {
    if (!this.out.writableNeedDrain) return;
    await new Promise<void>((resolve) => {
      this.out.once('drain', resolve);
      this.out.once('close', resolve);
    });
  }

  private write(text: string): void {
    if (!this.isOpen) return;
    this.out.write(text);
    if (this.out.writableLength > MOST_UNREAD_BYTES) this.out.destroy();
  }
}

function render({ id, event, tripId, more }: OfferEntry): string {
  const data = event === 'offer' ? offerOf(tripId, more) : { tripId, ...(more && { reason: more }) };
  return `id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}

function offerOf(tripId: string, more: string): object {
  const space = more.indexOf(' ');
  const expiresAt = new Date(Number(more.slice(0, space))).toISOString();
  return { tripId, customerId: more.slice(space + 1), expiresAt };
}
