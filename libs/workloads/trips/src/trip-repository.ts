import { isUuid, LuaScripts, RootedRepository, type Answer } from '#workload-kit';
import { Injectable } from '@nestjs/common';
import { readTrip, type Trip, type TripStatus } from './trip.js';
import { tripKey } from './trip-keys.js';

export const scripts = new LuaScripts(import.meta.url);

export type Ending = 'CANCELLED' | 'EXPIRED' | 'COMPLETED';

/** An event in a driver's stream. */
export interface OfferEntry {
  readonly id: string;
  readonly event: 'offer' | 'withdrawn' | 'accepted';
  readonly tripId: string;
  /** For an offer: expiry in ms, a space and the customer. For a withdrawal: the reason. Otherwise empty. */
  readonly more: string;
}

export interface OfferLook {
  readonly newest: string;
  /** The trip offered to the driver now; '' if none. */
  readonly standing: string;
  /** Time until the offer expires; not positive if it has expired but is not withdrawn yet. */
  readonly leftMs: number;
  /** True if the page was full and more entries follow. */
  readonly hasMore: boolean;
  readonly entries: readonly OfferEntry[];
}

/** A due trip. `tend`: work remains. `watch`: only check whether another caller closed its owner. */
export interface DueTrip {
  readonly id: string;
  readonly what: 'tend' | 'watch';
}

/** A driver who went offline and whose earlier requests are to be withdrawn. */
export interface AwayDriver {
  readonly id: string;
  readonly sinceMs: number;
}

/** Page size of a driver's stream. A page of the longest entries stays below the unread limit of a stream. */
const ENTRIES_AT_ONCE = 25;

/** Trips and drivers in the store. Every decision is a single script. */
@Injectable()
export class TripRepository extends RootedRepository {
  readonly root = `${this.prefix}:{trips}`;
  protected override readonly scripts = scripts;

  /** For `exists`, the answer holds the id of the existing trip. */
  create(trip: {
    id: string;
    customerId: string;
    driverIds: readonly string[];
    livesMs: number;
    /** Digest of the Idempotency-Key; '' if none. */
    key: string;
    /** Never leaves the store; cancel ids are derived from it. */
    secret: string;
  }): Promise<Answer<'created' | 'exists'>> {
    const { id, customerId, driverIds, livesMs, key, secret } = trip;
    return this.run('create', id, customerId, JSON.stringify(driverIds), livesMs, key, secret);
  }

  async find(id: string): Promise<Trip | undefined> {
    return readTrip(id, await this.call((redis) => redis.hgetall(tripKey(this.root, id))));
  }

  /** '' if the trip does not exist. */
  async secret(id: string): Promise<string> {
    return (await this.call((redis) => redis.hget(tripKey(this.root, id), 'secret'))) ?? '';
  }

  isOurs(id: string): boolean {
    return isUuid(id);
  }

  /** For its jobs, a trip exists while it can be accepted. */
  async live(ids: readonly string[]): Promise<boolean[]> {
    const statuses = await this.call((redis) =>
      Promise.all(ids.map((id) => redis.hget(tripKey(this.root, id), 'status'))),
    );
    return statuses.map((status) => status === 'PENDING');
  }

  offer(
    tripId: string,
    driverId: string,
    jobId: string,
  ): Promise<Answer<'offered' | 'over' | 'not-asked' | 'unavailable' | 'busy'>> {
    return this.run('offer', tripId, driverId, jobId);
  }

  accept(
    tripId: string,
    driverId: string,
  ): Promise<Answer<'accepted' | 'again' | 'unknown' | 'over' | 'not-asked' | 'unavailable' | 'busy'>> {
    return this.run('accept', tripId, driverId);
  }

  decline(tripId: string, driverId: string): Promise<Answer<'declined' | 'not-offered'>> {
    return this.run('decline', tripId, driverId);
  }

  finish(
    tripId: string,
    how: Ending,
    why: string,
    isRefused = false,
  ): Promise<Answer<'finished' | 'again' | 'unknown' | 'refused' | 'early'>> {
    return this.run('finish', tripId, how, why, isRefused ? 'refused' : '');
  }

  pass(driverId: string, jobId: string): Promise<Answer<'passed' | 'moved'>> {
    return this.run('pass', driverId, jobId);
  }

  setAvailable(driverId: string, isAvailable: boolean): Promise<Answer<'online' | 'offline'>> {
    return this.run('driver', driverId, isAvailable ? 1 : 0);
  }

  /** The availability that the driver last set. */
  async isAvailable(driverId: string): Promise<boolean> {
    const key = `${this.root}:driver:${driverId}`;
    return (await this.call((redis) => redis.hget(key, 'available'))) === '1';
  }

  /** True if the driver is available and has neither a trip nor an offer. */
  async isFree(driverId: string): Promise<boolean> {
    const key = `${this.root}:driver:${driverId}`;
    const [available, ...has] = await this.call((redis) => redis.hmget(key, 'available', 'trip', 'offer'));
    return available === '1' && has.every((one) => one === null);
  }

  async look(driverId: string, last: string): Promise<OfferLook> {
    const answer = (await this.ask('look', driverId, last, ENTRIES_AT_ONCE)) as unknown[];
    const [newest, standing, left, ...entries] = answer as [string, string, string, ...[string, string[]][]];
    const hasMore = entries.length === ENTRIES_AT_ONCE;
    return { newest, standing, leftMs: Number(left), hasMore, entries: entries.map(readEntry) };
  }

  async due(atMost: number): Promise<DueTrip[]> {
    const answer = (await this.ask('due', atMost)) as [string, DueTrip['what']][];
    return answer.map(([id, what]) => ({ id, what }));
  }

  async away(atMost: number): Promise<AwayDriver[]> {
    const answer = (await this.ask('away', atMost)) as string[];
    return answer.flatMap((id, i) => (i % 2 === 0 ? [{ id, sinceMs: Number(answer[i + 1]) }] : []));
  }

  async markWithdrawn({ id, sinceMs }: AwayDriver): Promise<void> {
    await this.run('mark-withdrawn', id, sinceMs);
  }

  async markChecked(tripId: string, status: TripStatus | ''): Promise<void> {
    await this.run('mark-checked', tripId, status);
  }
}

function readEntry([id, fields]: [string, string[]]): OfferEntry {
  const [, event, , tripId, , more] = fields;
  return { id, event: event as OfferEntry['event'], tripId: tripId!, more: more! };
}
