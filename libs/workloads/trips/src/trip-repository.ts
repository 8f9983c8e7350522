import { LIFECYCLE_DEFAULTS, LifecycleOptions, Store } from '#lifecycle';
import { runScript } from '#scripts';
import { Injectable } from '@nestjs/common';
import { readTrip, type Trip, type TripStatus } from './trip.js';
import { rootKey, tripKey } from './trip-keys.js';
import { scripts } from './trip-scripts.js';

/** A script's answer: an outcome and its values. */
type Answer<Word extends string> = readonly [Word, ...string[]];

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
export class TripRepository {
  readonly root: string;

  constructor(
    options: LifecycleOptions,
    private readonly store: Store,
  ) {
    this.root = rootKey(options.prefix ?? LIFECYCLE_DEFAULTS.prefix);
  }

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
    return readTrip(id, await this.store.call(() => this.store.redis.hgetall(tripKey(this.root, id))));
  }

  /** '' if the trip does not exist. */
  async secret(id: string): Promise<string> {
    return (await this.store.call(() => this.store.redis.hget(tripKey(this.root, id), 'secret'))) ?? '';
  }

  /** One status per id; null for a trip that does not exist. */
  async statuses(ids: readonly string[]): Promise<(TripStatus | null)[]> {
    const found = this.store.call(() =>
      Promise.all(ids.map((id) => this.store.redis.hget(tripKey(this.root, id), 'status'))),
    );
    return (await found) as (TripStatus | null)[];
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
    return (await this.store.call(() => this.store.redis.hget(key, 'available'))) === '1';
  }

  /** True if the driver is available and has neither a trip nor an offer. */
  async isFree(driverId: string): Promise<boolean> {
    const key = `${this.root}:driver:${driverId}`;
    const [available, ...has] = await this.store.call(() =>
      this.store.redis.hmget(key, 'available', 'trip', 'offer'),
    );
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

  now(): Promise<number> {
    return this.store.now();
  }

  private async run<Word extends string>(
    name: keyof typeof scripts,
    ...args: (string | number)[]
  ): Promise<Answer<Word>> {
    return (await this.ask(name, ...args)) as Answer<Word>;
  }

  private ask(name: keyof typeof scripts, ...args: (string | number)[]): Promise<unknown> {
    return this.store.call(() => runScript(this.store.redis, scripts[name], [this.root], args));
  }
}

function readEntry([id, fields]: [string, string[]]): OfferEntry {
  const [, event, , tripId, , more] = fields;
  return { id, event: event as OfferEntry['event'], tripId: tripId!, more: more! };
}
