import { LifecycleOptions, Store, StoreUnavailableError, Turns } from '#lifecycle';
import { Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import type { Redis } from 'ioredis';
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { offersOf } from '../trips.keys.js';
import { TripRepository, type OfferLook } from '../trips.repository.js';
import { Trips } from '../trips.service.js';
import { Beats } from './beats.js';
import { openListener } from './listener.js';
import { OfferEnds } from './offer.ends.js';
import { OfferStream } from './offer.stream.js';

/** How many phones of one driver look at once; with one more the first is let go. */
const MOST_A_DRIVER = 8;
const ENTRY_ID = /^\d{1,15}-\d{1,10}$/;
/** So many look into the store at once: all may want to, when the connection comes back, and others want an answer too. */
const LOOKS_AT_ONCE = 100;

export const OFFER_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  'x-accel-buffering': 'no',
  'x-content-type-options': 'nosniff',
};

/**
 * All phones that look through this process. What they are shown is read from the stream of their driver; a message only says
 * that there is something to read. One that is lost is made good by the next beat, and by a new connection at once.
 */
@Injectable()
export class OfferHub implements OnModuleDestroy {
  private readonly streams = new Map<string, Set<OfferStream>>();
  /** How many listen to a driver, or are about to. */
  private readonly listening = new Map<string, number>();
  private readonly beats = new Beats();
  private readonly looks = new Turns(LOOKS_AT_ONCE);
  private readonly log = new Logger('Offers');
  private readonly ends: OfferEnds;
  private connection: Redis | undefined;
  private isClosing = false;

  constructor(
    private readonly options: LifecycleOptions,
    private readonly store: Store,
    private readonly trips: TripRepository,
    plot: Trips,
  ) {
    this.ends = new OfferEnds(
      (tripId) => plot.withdraw(tripId),
      (error) => this.log.debug(String(error)),
    );
  }

  /** How many look. */
  get size(): number {
    return [...this.streams.values()].reduce((sum, { size }) => sum + size, 0);
  }

  /** Everything that may fail, before the answer begins. Listening comes first, so that nothing falls in between. */
  async prepare(
    driverId: string,
    lastEventId = '',
  ): Promise<(out: ServerResponse, headers: OutgoingHttpHeaders) => void> {
    if (this.isClosing) throw new StoreUnavailableError('This process ends.');
    const last = ENTRY_ID.test(lastEventId) ? lastEventId : '';
    await this.listenTo(driverId);
    const look = async (from: string): Promise<OfferLook> => {
      const found = await this.looks.take(() => this.trips.look(driverId, from || '0-0'));
      if (this.streams.has(driverId) && !this.isClosing) this.ends.note(driverId, found);
      return found;
    };
    const first = await this.trips.look(driverId, last).catch((error: unknown) => {
      this.leave(driverId);
      throw error;
    });
    return (out, headers) => {
      out.writeHead(200, { ...headers, ...OFFER_HEADERS });
      const stream = new OfferStream(out, look, last, (error) => this.log.debug(String(error)));
      this.add(driverId, stream);
      out.once('close', () => this.remove(driverId, stream));
      stream.begin(first);
      // It may have gone, or this process be told to end, while all that was prepared.
      if (out.destroyed) this.remove(driverId, stream);
      if (this.isClosing) stream.end();
    };
  }

  /** Before the server closes, which waits for whoever is connected. */
  onModuleDestroy(): void {
    this.isClosing = true;
    this.beats.end();
    this.ends.stop();
    this.connection?.disconnect();
    for (const stream of this.all()) stream.end();
  }

  private add(driverId: string, stream: OfferStream): void {
    const streams = this.streams.get(driverId) ?? new Set();
    this.streams.set(driverId, streams.add(stream));
    const [oldest] = streams;
    if (streams.size > MOST_A_DRIVER) oldest!.end();
    this.beats.add(stream);
  }

  private remove(driverId: string, stream: OfferStream): void {
    const streams = this.streams.get(driverId);
    if (!streams?.delete(stream)) return;
    this.beats.remove(stream);
    if (streams.size === 0) {
      this.streams.delete(driverId);
      this.ends.forget(driverId);
    }
    this.leave(driverId);
  }

  private async listenTo(driverId: string): Promise<void> {
    this.listening.set(driverId, (this.listening.get(driverId) ?? 0) + 1);
    try {
      await this.store.call(() => {
        this.connection ??= this.open();
        return this.connection.subscribe(offersOf(this.trips.root, driverId));
      });
    } catch (error) {
      this.leave(driverId);
      throw error;
    }
  }

  /** The last one turns off the light. Whoever is on his way in counts: he has heard already that he listens. */
  private leave(driverId: string): void {
    const others = this.listening.get(driverId)! - 1;
    if (others > 0) return void this.listening.set(driverId, others);
    this.listening.delete(driverId);
    if (!this.isClosing)
      this.connection?.unsubscribe(offersOf(this.trips.root, driverId)).catch(() => undefined);
  }

  private open(): Redis {
    const connection = openListener(this.options.redis);
    // Said by the shared connection already, which goes to the same store.
    connection.on('error', () => undefined);
    connection.on('ready', () => this.tell(this.all()));
    connection.on('message', (channel: string) => {
      const driverId = channel.slice(offersOf(this.trips.root, '').length);
      this.tell(this.streams.get(driverId) ?? []);
    });
    return connection;
  }

  private tell(streams: Iterable<OfferStream>): void {
    for (const stream of streams) void stream.tell();
  }

  private all(): OfferStream[] {
    return [...this.streams.values()].flatMap((streams) => [...streams]);
  }
}
