import {
  Canceller,
  Enqueuer,
  IdempotencyConflictError,
  owner,
  OwnerClosedError,
  QueueFullError,
  Waker,
} from '#lifecycle';
import { Injectable, Logger } from '@nestjs/common';
import { createHash, randomUUID } from 'node:crypto';
import type { Trip } from './trip.js';
import { NotForDriverError, TripOverError, UnknownTripError } from './trips.errors.js';
import { request, timeout } from './trips.kinds.js';
import { TripRepository, type Ending } from './trips.repository.js';

export interface TripOrder {
  readonly customerId: string;
  readonly driverIds: readonly string[];
  readonly livesMs: number;
}

/**
 * What can happen to a trip. The repository decides, in one step; jobs follow. Whoever dies in between leaves the trip due for
 * care (trips.care.ts), which does the same again.
 */
@Injectable()
export class Trips {
  private readonly log = new Logger('Trips');

  constructor(
    private readonly trips: TripRepository,
    private readonly enqueuer: Enqueuer,
    private readonly canceller: Canceller,
    private readonly waker: Waker,
  ) {}

  /** The same key again is the same trip. */
  async ask(order: TripOrder, idempotencyKey?: string): Promise<Trip> {
    const id = idempotencyKey === undefined ? randomUUID() : idOf(idempotencyKey);
    const outcome = await this.trips.create({ id, ...order });
    const trip = await this.read(id);
    if (!isFor(trip, order)) throw new IdempotencyConflictError();
    try {
      // One that is there is being sent for, or the care will: twice at once would ask its drivers twice.
      if (outcome === 'created') await this.send(trip, order.livesMs);
    } catch (error) {
      // It is refused whole. Of any other failure nobody knows what has been done, and the care does the rest.
      if (error instanceof QueueFullError) await this.cancel(id, 'refused: too many are waiting');
      throw error;
    }
    return trip;
  }

  async read(id: string): Promise<Trip> {
    const trip = await this.trips.find(id);
    if (!trip) throw new UnknownTripError();
    return trip;
  }

  async accept(id: string, driverId: string): Promise<Trip> {
    const [word, what = '', ...woken] = await this.trips.accept(id, driverId);
    switch (word) {
      case 'accepted':
        this.wake(woken);
        await this.tidy(id, 'ACCEPTED', `accepted by ${driverId}`);
        if (what !== '') await this.askAgain(what, driverId);
        return this.read(id);
      case 'again':
        return this.read(id);
      case 'unknown':
        throw new UnknownTripError();
      case 'over':
        throw new TripOverError(what);
      case 'busy':
        throw new NotForDriverError(driverId, 'the driver is on another trip');
      case 'unavailable':
        throw new NotForDriverError(driverId, 'the driver is not available');
      case 'not-asked':
        throw new NotForDriverError(driverId, 'the driver was not asked');
    }
  }

  /** The driver does not want it; the others are asked still. */
  async decline(id: string, driverId: string): Promise<Trip> {
    const [word, ...woken] = await this.trips.decline(id, driverId);
    const trip = await this.read(id);
    if (word === 'not-offered') throw new NotForDriverError(driverId, 'the driver is not offered it');
    this.wake(woken);
    return trip;
  }

  async complete(id: string): Promise<Trip> {
    await this.finish(id, 'COMPLETED', 'completed');
    return this.read(id);
  }

  async cancel(id: string, reason: string): Promise<Trip> {
    await this.finish(id, 'CANCELLED', reason);
    return this.read(id);
  }

  /** Ends a trip that nobody accepted in time: 0, or in how many ms it may be. */
  async expire(id: string): Promise<number> {
    const [word, what, ...woken] = await this.trips.finish(id, 'EXPIRED', 'expired');
    if (word === 'early') return Number(what);
    if (word === 'finished') this.wake([what, ...woken]);
    if (word === 'finished' || word === 'again') await this.tidy(id, 'EXPIRED', 'nobody accepted in time');
    return 0;
  }

  /** A driver who goes offline loses what waits for him, and nothing else. */
  async setAvailable(driverId: string, isAvailable: boolean): Promise<void> {
    const [, ...woken] = await this.trips.setAvailable(driverId, isAvailable);
    if (isAvailable) this.wake(woken);
    else await this.canceller.cancel(owner('driver', driverId), { ...OFFLINE, close: false });
  }

  /** Its jobs. Those that are there already are left to it, so that this may be done again. */
  async send(trip: Trip, leftMs: number): Promise<void> {
    const { id, driverIds } = trip;
    const owners = [owner('trip', id)];
    const requests = driverIds.map((driverId) => this.request(id, driverId, leftMs));
    const ends = this.enqueuer
      .enqueue(timeout, { tripId: id }, { owners, delay: leftMs, dedup: { strategy: 'skip' } })
      .catch(unlessClosed);
    await Promise.all([ends, ...requests]);
    await this.trips.tended(id, 'PENDING');
  }

  /** Nothing of it is left to be done: its jobs end, and it takes no more. */
  async tidy(id: string, status: 'ACCEPTED' | Ending, reason: string): Promise<void> {
    try {
      const cancelId = `trip-${id}-${status}`;
      await this.canceller.cancel(owner('trip', id), { reason, by: 'trips', cancelId });
      await this.trips.tended(id, status);
    } catch (error) {
      this.log.warn(`The jobs of trip ${id} are left to the care: ${(error as Error).message}`);
    }
  }

  private async finish(id: string, how: Ending, why: string): Promise<void> {
    const [word, ...rest] = await this.trips.finish(id, how, why);
    switch (word) {
      case 'finished':
        this.wake(rest);
        return this.tidy(id, how, why);
      case 'again':
        return;
      case 'unknown':
        throw new UnknownTripError();
      case 'refused':
      case 'early':
        throw new TripOverError(rest[0]!);
    }
  }

  private async request(tripId: string, driverId: string, leftMs: number): Promise<void> {
    const owners = [owner('trip', tripId), owner('driver', driverId)];
    const dedup = { strategy: 'skip', key: driverId } as const;
    await this.enqueuer
      .enqueue(request, { tripId, driverId }, { owners, dedup, expiresIn: leftMs })
      .catch(unlessClosed);
  }

  /** He took another trip than the one he was offered; should that be over before this one, he is asked again. */
  private async askAgain(tripId: string, driverId: string): Promise<void> {
    const trip = await this.trips.find(tripId);
    const leftMs = trip?.status === 'PENDING' ? Date.parse(trip.expiresAt) - (await this.trips.now()) : 0;
    if (leftMs > 0) await this.request(tripId, driverId, leftMs);
  }

  /** Nobody waits for this: a job that is not woken looks again by itself. */
  private wake(jobIds: readonly (string | undefined)[]): void {
    for (const jobId of jobIds) {
      if (jobId) this.waker.wake(jobId).catch((error: Error) => this.log.warn(error.message));
    }
  }
}

const OFFLINE = { reason: 'the driver went offline', by: 'trips' } as const;

/** The trip ended meanwhile, or an operator has closed the driver: there is nobody to ask. */
function unlessClosed(error: unknown): void {
  if (!(error instanceof OwnerClosedError)) throw error;
}

function idOf(idempotencyKey: string): string {
  const hex = createHash('sha256').update(idempotencyKey).digest('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join(
    '-',
  );
}

function isFor(trip: Trip, { customerId, driverIds, livesMs }: TripOrder): boolean {
  return (
    trip.customerId === customerId &&
    JSON.stringify(trip.driverIds) === JSON.stringify(driverIds) &&
    Date.parse(trip.expiresAt) - Date.parse(trip.createdAt) === livesMs
  );
}
