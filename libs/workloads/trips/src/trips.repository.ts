import { LIFECYCLE_DEFAULTS, LifecycleOptions, Store } from '#lifecycle';
import { runScript } from '#scripts';
import { Injectable } from '@nestjs/common';
import { readTrip, type Trip, type TripStatus } from './trip.js';
import { rootKey, tripKey } from './trips.keys.js';
import { scripts } from './trips.scripts.js';

/** What a script answers: a word, and what goes with it. */
type Answer<Word extends string> = readonly [Word, ...string[]];

export type Ending = 'CANCELLED' | 'EXPIRED' | 'COMPLETED';

/** An entry of what a driver is shown. */
export interface OfferEntry {
  readonly id: string;
  readonly event: 'offer' | 'withdrawn' | 'accepted';
  readonly tripId: string;
  /** Of an offer: when it expires, ms, a space, and who asks. Of a withdrawal: why. Else nothing. */
  readonly more: string;
}

export interface OfferLook {
  readonly newest: string;
  /** The trip that the driver is offered now; '' for none. */
  readonly standing: string;
  /** For how long; nothing when its time is over, and nobody has withdrawn it yet. */
  readonly leftMs: number;
  /** There are more, after these. */
  readonly hasMore: boolean;
  readonly entries: readonly OfferEntry[];
}

/** A trip that the care is to look at: does something remain to be done, or is it only to be seen whether others ended it? */
export interface DueTrip {
  readonly id: string;
  readonly what: 'tend' | 'watch';
}

/** A driver whose requests of before are to be taken back. */
export interface AwayDriver {
  readonly id: string;
  readonly sinceMs: number;
}

/** So many entries of what a driver is shown are read at once: a page of the longest is within what a phone may leave unread. */
const ENTRIES_AT_ONCE = 25;

/** Trips and drivers in the store. Every decision is one script. */
@Injectable()
export class TripRepository {
  readonly root: string;

  constructor(
    options: LifecycleOptions,
    private readonly store: Store,
  ) {
    this.root = rootKey(options.prefix ?? LIFECYCLE_DEFAULTS.prefix);
  }

  /** Of one that exists: which it is. */
  create(trip: {
    id: string;
    customerId: string;
    driverIds: readonly string[];
    livesMs: number;
    /** Digest of the key that it is asked for with; '' for none. */
    key: string;
    /** What nobody outside can know of it. */
    secret: string;
  }): Promise<Answer<'created' | 'exists'>> {
    const { id, customerId, driverIds, livesMs, key, secret } = trip;
    return this.run('create', id, customerId, JSON.stringify(driverIds), livesMs, key, secret);
  }

  async find(id: string): Promise<Trip | undefined> {
    return readTrip(id, await this.store.call(() => this.store.redis.hgetall(tripKey(this.root, id))));
  }

  /** '' when there is no such trip. */
  async secret(id: string): Promise<string> {
    return (await this.store.call(() => this.store.redis.hget(tripKey(this.root, id), 'secret'))) ?? '';
  }

  /** Of each trip; null for one that does not exist. */
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

  /** Whether the driver says so. */
  async isAvailable(driverId: string): Promise<boolean> {
    const key = `${this.root}:driver:${driverId}`;
    return (await this.store.call(() => this.store.redis.hget(key, 'available'))) === '1';
  }

  /** Whether the driver could be offered something. */
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

  async taken({ id, sinceMs }: AwayDriver): Promise<void> {
    await this.run('taken', id, sinceMs);
  }

  async tended(tripId: string, status: TripStatus | ''): Promise<void> {
    await this.run('tended', tripId, status);
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
