import { StoreUnavailableError } from '#nestjs';
import { openSubscriber, Semaphore, WorkloadStore } from '#workload-kit';
import { Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import type { Redis } from 'ioredis';
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { offersOf } from '../trip-keys.js';
import { TripRepository, type OfferLook } from '../trip-repository.js';
import { Trips } from '../trips.service.js';
import { Heartbeats } from './heartbeats.js';
import { OfferExpiryTimers } from './offer-expiry-timers.js';
import { OfferStream } from './offer-stream.js';

/** Streams per driver. One more closes the oldest. */
const MOST_A_DRIVER = 8;
const ENTRY_ID = /^\d{1,15}-\d{1,10}$/;
/** Concurrent reads: after a reconnect all streams read at once, and other callers need the store too. */
const LOOKS_AT_ONCE = 100;

export const OFFER_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  'x-accel-buffering': 'no',
  'x-content-type-options': 'nosniff',
};

/**
 * All offer streams of this process. Events are read from the driver's Redis stream; a pub/sub message only
 * says that there is something to read. A lost message is made good by the next heartbeat, and a reconnect
 * triggers a read at once.
 */
@Injectable()
export class OfferHub implements OnModuleDestroy {
  private readonly streams = new Map<string, Set<OfferStream>>();
  /** Subscribers per driver, including those still being set up. */
  private readonly listening = new Map<string, number>();
  private readonly beats = new Heartbeats();
  private readonly looks = new Semaphore(LOOKS_AT_ONCE);
  private readonly log = new Logger('Offers');
  private readonly ends: OfferExpiryTimers;
  private connection: Redis | undefined;
  private isClosing = false;

  constructor(
    private readonly store: WorkloadStore,
    private readonly trips: TripRepository,
    plot: Trips,
  ) {
    this.ends = new OfferExpiryTimers(
      (tripId) => plot.expire(tripId, true),
      (error) => this.log.debug(String(error)),
    );
  }

  get size(): number {
    return [...this.streams.values()].reduce((sum, { size }) => sum + size, 0);
  }

  /**
   * Does everything that may fail before the response starts. Subscribes before the first read, so that no
   * event falls between them.
   */
  async prepare(
    driverId: string,
    lastEventId = '',
  ): Promise<(out: ServerResponse, headers: OutgoingHttpHeaders) => void> {
    if (this.isClosing) throw new StoreUnavailableError('This process ends.');
    const last = ENTRY_ID.test(lastEventId) ? lastEventId : '';
    await this.listenTo(driverId);
    const look = async (from: string): Promise<OfferLook> => {
      const found = await this.looks.run(() => this.trips.look(driverId, from || '0-0'));
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
      // The phone may have disconnected, or shutdown may have begun, during the preparation.
      if (out.destroyed) this.remove(driverId, stream);
      if (this.isClosing) stream.end();
    };
  }

  /** Ends the streams before the server closes, because the server waits for open connections. */
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

  /**
   * Unsubscribes when the last stream of a driver leaves. Streams still being set up count, because they rely
   * on the subscription.
   */
  private leave(driverId: string): void {
    const others = this.listening.get(driverId)! - 1;
    if (others > 0) return void this.listening.set(driverId, others);
    this.listening.delete(driverId);
    if (!this.isClosing)
      this.connection?.unsubscribe(offersOf(this.trips.root, driverId)).catch(() => undefined);
  }

  private open(): Redis {
    const connection = openSubscriber(this.store.redis);
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
