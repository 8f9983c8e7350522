import {
  Canceller,
  Enqueuer,
  formatOwner,
  IdempotencyConflictError,
  owner,
  OwnerClosedError,
  OwnerReader,
  QueueFullError,
  type Owner,
  type OwnerView,
} from '#lifecycle';
import { Injectable, Logger } from '@nestjs/common';
import { createHash, randomUUID } from 'node:crypto';
import { OwnCancels } from './own.cancels.js';
import { isTripId, type Trip } from './trip.js';
import { NotForDriverError, TripOverError, UnknownTripError } from './trips.errors.js';
import { request, timeout } from './trips.kinds.js';
import { TripRepository, type AwayDriver, type Ending } from './trips.repository.js';
import { TripWakes } from './trips.wakes.js';

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
    private readonly ownCancels: OwnCancels,
    private readonly owners: OwnerReader,
    private readonly wakes: TripWakes,
  ) {}

  /** The same key again is the same trip, for as long as that can be read. */
  async ask(order: TripOrder, idempotencyKey?: string): Promise<Trip> {
    const key = idempotencyKey === undefined ? '' : digestOf(idempotencyKey);
    const [newId, secret] = [randomUUID(), randomUUID()];
    const [outcome, id = newId] = await this.trips.create({ id: newId, key, secret, ...order });
    const trip = await this.read(id);
    if (!isFor(trip, order)) throw new IdempotencyConflictError();
    try {
      // One that is there is being sent for, or the care will: twice at once would ask its drivers twice.
      if (outcome === 'created') await this.send(trip, order.livesMs);
    } catch (error) {
      // It is refused whole. Of any other failure nobody knows what has been done, and the care does the rest.
      if (error instanceof QueueFullError) await this.finish(id, 'CANCELLED', TOO_MANY, true);
      throw error;
    }
    return trip;
  }

  /** One whose time is over reads so, also when nobody has ended it yet. */
  async read(id: string): Promise<Trip> {
    let trip = await this.trips.find(id);
    if (trip?.status === 'PENDING' && Date.parse(trip.expiresAt) <= Date.now()) {
      await this.withdraw(id);
      trip = await this.trips.find(id);
    }
    if (!trip) throw new UnknownTripError();
    return trip;
  }

  async accept(id: string, driverId: string): Promise<Trip> {
    await this.endIfClosed(id);
    const [word, what = '', ...woken] = await this.trips.accept(id, driverId);
    switch (word) {
      case 'accepted':
        this.wakes.wake(woken);
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
    this.wakes.wake(woken);
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
    if (word === 'finished') this.wakes.wake([what, ...woken]);
    if (word === 'finished' || word === 'again') await this.tidy(id, 'EXPIRED', NOBODY);
    return 0;
  }

  /** The same for who shows it: it is gone when this has answered, its jobs soon after. */
  async withdraw(id: string): Promise<number> {
    const [word, what, ...woken] = await this.trips.finish(id, 'EXPIRED', 'expired');
    if (word === 'early') return Number(what);
    if (word === 'finished') {
      this.wakes.wake([what, ...woken]);
      void this.tidy(id, 'EXPIRED', NOBODY);
    }
    return 0;
  }

  /** A driver who goes offline loses the requests that wait for him, and nothing else. */
  async setAvailable(driverId: string, isAvailable: boolean): Promise<void> {
    const driver = owner('driver', driverId);
    if (isAvailable && (await this.isClosed(driver))) throw new OwnerClosedError(formatOwner(driver));
    const [word, what, ...woken] = await this.trips.setAvailable(driverId, isAvailable);
    if (word === 'online') this.wakes.wake([what, ...woken]);
    else await this.takeBack({ id: driverId, sinceMs: Number(what) });
  }

  /** Nobody can ask a driver whose owner is closed: he goes offline. His requests go with the owner. */
  async leaveIfClosed(driverId: string): Promise<void> {
    if (!(await this.trips.isAvailable(driverId)) || !(await this.isClosed(owner('driver', driverId))))
      return;
    const [, since] = await this.trips.setAvailable(driverId, false);
    await this.trips.taken({ id: driverId, sinceMs: Number(since) });
  }

  /** The requests of a driver who went offline, of before, a page at a time. What else he owns is not ours to end. */
  async takeBack(away: AwayDriver): Promise<void> {
    let cursor: string | null = '0';
    do {
      const page: OwnerView = await this.owners.read(owner('driver', away.id), cursor);
      const requests = page.jobs.filter(
        ({ queue, acceptedAt }) => queue === request.queue && Date.parse(acceptedAt) <= away.sinceMs,
      );
      await Promise.all(requests.map(({ id }) => this.canceller.cancelJob(id, OFFLINE)));
      ({ cursor } = page);
    } while (cursor !== null);
    await this.trips.taken(away);
  }

  /**
   * Whether the owner of a trip that is PENDING was closed by others, who did not live to cancel the trip: then it is cancelled
   * now. The trip closes its owner itself, but never while it is PENDING; so its status is looked at after its owner.
   */
  async endIfClosed(id: string): Promise<boolean> {
    if (!isTripId(id) || !(await this.isClosed(owner('trip', id)))) return false;
    const trip = await this.trips.find(id);
    if (trip?.status !== 'PENDING') return false;
    await this.finish(id, 'CANCELLED', 'its owner is cancelled');
    return true;
  }

  /** The same for many, of which hardly one will be. */
  async endClosed(ids: readonly string[]): Promise<void> {
    const closed = await this.owners.closedAmong(ids.map((id) => owner('trip', id)));
    await Promise.all(closed.map(({ id }) => this.endIfClosed(id)));
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
      await this.ownCancels.carryOut(id, status, reason);
      await this.trips.tended(id, status);
    } catch (error) {
      this.log.warn(`The jobs of trip ${id} are left to the care: ${(error as Error).message}`);
    }
  }

  private async finish(id: string, how: Ending, why: string, isRefused = false): Promise<void> {
    const [word, ...rest] = await this.trips.finish(id, how, why, isRefused);
    switch (word) {
      case 'finished':
        this.wakes.wake(rest);
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
    try {
      const trip = await this.trips.find(tripId);
      if (trip?.status !== 'PENDING') return;
      const leftMs = Date.parse(trip.expiresAt) - (await this.trips.now());
      if (leftMs > 0) await this.request(tripId, driverId, leftMs);
      await this.trips.tended(tripId, 'PENDING');
    } catch (error) {
      // The trip that he took is his, whatever becomes of this one.
      this.log.warn(`Trip ${tripId} is left to the care: ${(error as Error).message}`);
    }
  }

  private async isClosed(one: Owner): Promise<boolean> {
    return (await this.owners.closedAmong([one])).length > 0;
  }
}

const OFFLINE = { reason: 'the driver went offline', by: 'trips' } as const;
const NOBODY = 'nobody accepted in time';
const TOO_MANY = 'refused: too many are waiting';

/** The trip ended meanwhile, or an operator has closed the driver: there is nobody to ask. */
function unlessClosed(error: unknown): void {
  if (!(error instanceof OwnerClosedError)) throw error;
}

function digestOf(idempotencyKey: string): string {
  return createHash('sha256').update(idempotencyKey).digest('base64url');
}

function isFor(trip: Trip, { customerId, driverIds, livesMs }: TripOrder): boolean {
  return (
    trip.customerId === customerId &&
    JSON.stringify(trip.driverIds) === JSON.stringify(driverIds) &&
    Date.parse(trip.expiresAt) - Date.parse(trip.createdAt) === livesMs
  );
}
