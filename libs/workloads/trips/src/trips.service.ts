import {
  formatOwner,
  IdempotencyConflictError,
  owner,
  OwnerClosedError,
  QueueFullError,
  type Owner,
} from '#core';
import { Enqueuer, JobCanceller, OwnerReader, receiptOf, type OwnerView } from '#nestjs';
import { isUuid } from '#workload-kit';
import { Injectable, Logger } from '@nestjs/common';
import { hash, randomUUID } from 'node:crypto';
import { TripCancelIds } from './trip-cancel-ids.js';
import { isFor, type Trip, type TripOrder } from './trip.js';
import { NotForDriverError, TripOverError, UnknownTripError } from './trip-errors.js';
import { request, timeout } from './trip-kinds.js';
import { TripRepository, type AwayDriver, type Ending } from './trip-repository.js';
import { DriverQueueWaker } from './driver-queue-waker.js';

/**
 * Everything that can happen to a trip. The repository decides in one script; jobs follow. If the process
 * dies in between, the trip stays due and the reconciler (trip-reconciler.ts) repeats the second step.
 */
@Injectable()
export class Trips {
  private readonly log = new Logger('Trips');

  constructor(
    private readonly trips: TripRepository,
    private readonly enqueuer: Enqueuer,
    private readonly jobs: JobCanceller,
    private readonly cancelIds: TripCancelIds,
    private readonly owners: OwnerReader,
    private readonly waker: DriverQueueWaker,
  ) {}

  /** Idempotent by key for as long as the trip can be read. */
  async ask(order: TripOrder, idempotencyKey?: string): Promise<Trip> {
    const key = idempotencyKey === undefined ? '' : hash('sha256', idempotencyKey, 'base64url');
    const [newId, secret] = [randomUUID(), randomUUID()];
    const [outcome, id = newId] = await this.trips.create({ id: newId, key, secret, ...order });
    const trip = await this.read(id);
    if (!isFor(trip, order)) throw new IdempotencyConflictError();
    try {
      // An existing trip is being sent by its creator or by the reconciler. Sending it here too would ask its
      // drivers twice.
      if (outcome === 'created') await this.send(trip, order.livesMs);
    } catch (error) {
      // A full queue refuses the trip as a whole. After any other failure it is unknown which jobs exist, so
      // the reconciler sends the rest.
      if (error instanceof QueueFullError) await this.finish(id, 'CANCELLED', TOO_MANY, true);
      throw error;
    }
    return trip;
  }

  /** Expires a trip that is past its time first, so that the caller never sees it as open. */
  async read(id: string): Promise<Trip> {
    let trip = await this.trips.find(id);
    if (trip?.status === 'PENDING' && Date.parse(trip.expiresAt) <= Date.now()) {
      await this.expire(id, true);
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
        this.waker.wake(woken);
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

  /** Withdraws the offer from this driver only. */
  async decline(id: string, driverId: string): Promise<Trip> {
    const [word, ...woken] = await this.trips.decline(id, driverId);
    const trip = await this.read(id);
    if (word === 'not-offered') throw new NotForDriverError(driverId, 'the driver is not offered it');
    this.waker.wake(woken);
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

  /**
   * Expires a trip that was not accepted. Returns 0, or the ms left until it expires. `inBackground`, for a process that
   * shows the trip: resolves when the offer is withdrawn, while the jobs are removed.
   */
  async expire(id: string, inBackground = false): Promise<number> {
    const [word, what, ...woken] = await this.trips.finish(id, 'EXPIRED', 'expired');
    if (word === 'early') return Number(what);
    if (word === 'finished') this.waker.wake([what, ...woken]);
    if (word !== 'finished' && word !== 'again') return 0;
    const tidied = this.tidy(id, 'EXPIRED', NOT_ACCEPTED);
    if (!inBackground) await tidied;
    return 0;
  }

  /** Going offline cancels the driver's queued requests and nothing else. */
  async setAvailable(driverId: string, isAvailable: boolean): Promise<void> {
    const driver = owner('driver', driverId);
    if (isAvailable && (await this.isClosed(driver))) throw new OwnerClosedError(formatOwner(driver));
    const [word, what, ...woken] = await this.trips.setAvailable(driverId, isAvailable);
    if (word === 'online') this.waker.wake([what, ...woken]);
    else await this.takeBack({ id: driverId, sinceMs: Number(what) });
  }

  /**
   * Takes a driver offline whose owner is closed, because no request can reach them. The owner's cancel
   * removes their requests.
   */
  async leaveIfClosed(driverId: string): Promise<void> {
    if (!(await this.trips.isAvailable(driverId)) || !(await this.isClosed(owner('driver', driverId))))
      return;
    const [, since] = await this.trips.setAvailable(driverId, false);
    await this.trips.markWithdrawn({ id: driverId, sinceMs: Number(since) });
  }

  /**
   * Cancels the requests accepted before the driver went offline, page by page. Other jobs of the driver's
   * owner are left alone.
   */
  async takeBack(away: AwayDriver): Promise<void> {
    let cursor: string | null = '0';
    do {
      const page: OwnerView = await this.owners.read(owner('driver', away.id), cursor);
      const requests = page.jobs.filter(
        ({ queue, acceptedAt }) => queue === request.queue && Date.parse(acceptedAt) <= away.sinceMs,
      );
      await Promise.all(requests.map(({ id }) => receiptOf(this.jobs.cancel(id, OFFLINE))));
      ({ cursor } = page);
    } while (cursor !== null);
    await this.trips.markWithdrawn(away);
  }

  /**
   * Cancels a PENDING trip whose owner was closed by another caller that died before it cancelled the trip.
   * The trip closes its own owner too, but never while it is PENDING, so the status is read after the owner.
   */
  async endIfClosed(id: string): Promise<boolean> {
    if (!isUuid(id) || !(await this.isClosed(owner('trip', id)))) return false;
    const trip = await this.trips.find(id);
    if (trip?.status !== 'PENDING') return false;
    await this.finish(id, 'CANCELLED', 'its owner is cancelled');
    return true;
  }

  /** Like `endIfClosed`, with one owner lookup for many trips. */
  async endClosed(ids: readonly string[]): Promise<void> {
    const closed = await this.owners.closedAmong(ids.map((id) => owner('trip', id)));
    await Promise.all(closed.map(({ id }) => this.endIfClosed(id)));
  }

  /** Enqueues the trip's jobs. Existing jobs are skipped, so this may be repeated. */
  async send(trip: Trip, leftMs: number): Promise<void> {
    const { id, driverIds } = trip;
    const requests = driverIds.map((driverId) => this.request(id, driverId, leftMs));
    const ends = this.enqueuer.enqueue(timeout, { tripId: id }, { delay: leftMs }).catch(unlessClosed);
    await Promise.all([ends, ...requests]);
    await this.trips.markChecked(id, 'PENDING');
  }

  /** Removes the trip's jobs and closes its owner. A failure leaves the trip to the reconciler. */
  async tidy(id: string, status: 'ACCEPTED' | Ending, reason: string): Promise<void> {
    try {
      await this.cancelIds.carryOut(id, status, reason);
      await this.trips.markChecked(id, status);
    } catch (error) {
      this.log.warn(`The jobs of trip ${id} stay due for the reconciler: ${(error as Error).message}`);
    }
  }

  private async finish(id: string, how: Ending, why: string, isRefused = false): Promise<void> {
    const [word, ...rest] = await this.trips.finish(id, how, why, isRefused);
    switch (word) {
      case 'finished':
        this.waker.wake(rest);
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
    await this.enqueuer.enqueue(request, { tripId, driverId }, { expiresIn: leftMs }).catch(unlessClosed);
  }

  /** Sends the request again for a trip whose offer the driver gave up by accepting another trip. */
  private async askAgain(tripId: string, driverId: string): Promise<void> {
    try {
      const trip = await this.trips.find(tripId);
      if (trip?.status !== 'PENDING') return;
      const leftMs = Date.parse(trip.expiresAt) - (await this.trips.now());
      if (leftMs > 0) await this.request(tripId, driverId, leftMs);
      await this.trips.markChecked(tripId, 'PENDING');
    } catch (error) {
      // The accepted trip stands whatever happens to the other one.
      this.log.warn(`Trip ${tripId} stays due for the reconciler: ${(error as Error).message}`);
    }
  }

  private async isClosed(one: Owner): Promise<boolean> {
    return (await this.owners.closedAmong([one])).length > 0;
  }
}

const OFFLINE = { reason: 'the driver went offline', by: 'trips' } as const;
const NOT_ACCEPTED = 'no driver accepted in time';
const TOO_MANY = 'refused: too many are waiting';

/** The trip has ended, or an operator has closed the driver's owner: no request is needed. */
function unlessClosed(error: unknown): void {
  if (!(error instanceof OwnerClosedError)) throw error;
}
