import type { ServerResponse } from 'node:http';
import type { OfferEntry, OfferLook } from '../trip-repository.js';

/**
 * A client with more unread bytes is disconnected. It may reconnect and resume after the last event it saw.
 */
const MOST_UNREAD_BYTES = 64 * 1024;
/** Reconnect delay sent to the browser. */
const RETRY_MS = 1_000;
const LOOK_AGAIN_MS = 500;

/** One phone's stream of its driver's offers, as server-sent events. */
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

  /** Reads and sends new events. One read runs at a time; a call during a read causes one more. */
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

  /** Keeps proxies from closing an idle connection, and reads events whose message was lost. */
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

  /** Leaves out offers that were withdrawn or expired before they could be shown. */
  private show({ entries, standing, leftMs, newest }: OfferLook): void {
    const isOver = ({ event, tripId }: OfferEntry): boolean =>
      event === 'offer' && (tripId !== standing || leftMs <= 0);
    for (const entry of entries) {
      if (!isOver(entry)) this.write(render(entry));
    }
    this.last = newest;
  }

  /**
   * Waits until the client has read enough, so that a client with a long backlog is not disconnected for it.
   */
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
