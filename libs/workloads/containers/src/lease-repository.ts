import { isUuid, LuaScripts, RootedRepository, type Answer } from '#workload-kit';
import { Injectable } from '@nestjs/common';
import type { Cluster, Redis } from 'ioredis';
import { randomBytes } from 'node:crypto';
import { digestOf, leaseKey, ownedKey } from './lease-keys.js';
import {
  inFew,
  LIVE_STATES,
  readClaim,
  readLease,
  type Claim,
  type Ending,
  type LeaseJobs,
  type LeaseRecord,
  type LeaseState,
  type Made,
} from './lease.js';

export const scripts = new LuaScripts(import.meta.url);

export type Claimed =
  | { readonly word: 'claimed'; readonly claim: Claim }
  | { readonly word: 'early' | 'later' | 'busy'; readonly forMs: number }
  | { readonly word: 'manual' | 'over' | 'unknown' };

export interface NewLease {
  readonly id: string;
  readonly image: string;
  readonly livesMs: number;
  readonly owner: string | undefined;
  /** Digest of the Idempotency-Key; '' if none. */
  readonly key: string;
}

export interface LeasePage {
  readonly leases: readonly LeaseRecord[];
  /** Position of the next page; null on the last one. */
  readonly cursor: string | null;
}

/** The outcome of a call that may be refused; most refusals come with the lease's state. */
export type ChangeAnswer = Answer<'renewed' | 'ending' | 'ended' | 'over' | 'refused' | 'there' | 'unknown'>;

/** Leases in the store. Every decision is a single script, by the store's clock. */
@Injectable()
export class LeaseRepository extends RootedRepository {
  readonly root = `${this.prefix}:{leases}`;
  protected override readonly scripts = scripts;

  create(
    { id, image, livesMs, owner = '', key }: NewLease,
    places: number,
  ): Promise<Answer<'created' | 'exists' | 'full'>> {
    return this.run('create', id, image, livesMs, owner, digestOf(owner), places, key);
  }

  async recordJobs(id: string, { send, end, moor = '' }: LeaseJobs): Promise<void> {
    await this.run('sent', id, send, end, moor);
  }

  /** Removes a lease that was refused after its creation. True if it no longer exists. */
  async drop(id: string): Promise<boolean> {
    const [word] = await this.run<'dropped' | 'kept'>('drop', id);
    return word === 'dropped';
  }

  begin(id: string, limitMs: number): Promise<Answer<'make' | 'has' | 'over'>> {
    return this.run('begin', id, limitMs);
  }

  /** Creation is finished; `making` is the value that begin returned. */
  async markSettled(id: string, making: string): Promise<void> {
    await this.run('settled', id, making);
  }

  attach(id: string, { id: container, createdAt, engine }: Made): Promise<Answer<'running' | 'over'>> {
    return this.run('attach', id, container, createdAt, engine);
  }

  renew(id: string, livesMs: number): Promise<ChangeAnswer> {
    return this.run('renew', id, livesMs);
  }

  close(
    id: string,
    how: Exclude<Ending, 'expired'>,
    why: string,
    nothingIsMade = false,
  ): Promise<Answer<'closed' | 'again' | 'kept' | 'over' | 'unknown'>> {
    return this.run('close', id, how, inFew(why), nothingIsMade ? 1 : 0);
  }

  async claim(id: string, holdMs: number, isForced = false): Promise<Claimed> {
    type Word = 'end' | 'look' | Exclude<Claimed['word'], 'claimed'>;
    const [word, ...rest] = await this.run<Word>('claim', id, holdMs, isForced ? 1 : 0);
    if (word === 'end' || word === 'look')
      return { word: 'claimed', claim: readClaim(rest, word === 'look') };
    return { word, forMs: Number(rest[0]) };
  }

  async rest(id: string, { fence }: Claim, forMs: number): Promise<void> {
    await this.run('rest', id, fence, forMs);
  }

  /** `isLost`: no process with the lease's engine was found. */
  strike(
    id: string,
    { fence }: Claim,
    why: string,
    isLost = false,
  ): Promise<Answer<'again' | 'manual' | 'still' | 'overtaken'>> {
    return this.run('strike', id, fence, inFew(why), isLost ? 1 : 0);
  }

  ended(id: string, { fence }: Claim): Promise<Answer<'ended' | 'overtaken'>> {
    return this.run('ended', id, fence);
  }

  again(id: string): Promise<ChangeAnswer> {
    return this.run('again', id);
  }

  release(id: string): Promise<ChangeAnswer> {
    return this.run('release', id);
  }

  async due(atMost: number): Promise<string[]> {
    return (await this.ask('due', atMost)) as string[];
  }

  async markTidied(id: string): Promise<void> {
    await this.run('tidied', id);
  }

  async find(id: string): Promise<LeaseRecord | undefined> {
    return readLease(id, await this.call((redis) => redis.hgetall(leaseKey(this.root, id))));
  }

  /** One state per id; null for a lease that does not exist. */
  async states(ids: readonly string[]): Promise<(LeaseState | null)[]> {
    const found = this.call((redis) =>
      Promise.all(ids.map((id) => redis.hget(leaseKey(this.root, id), 'state'))),
    );
    return (await found) as (LeaseState | null)[];
  }

  isOurs(id: string): boolean {
    return isUuid(id);
  }

  /** A lease exists until its container is known to be gone. */
  async live(ids: readonly string[]): Promise<boolean[]> {
    const states = await this.states(ids);
    return states.map((state) => state !== null && state !== 'ended' && state !== 'failed');
  }

  /** Time left per lease, by the store's clock; undefined for a lease without a place. */
  async leftMs(ids: readonly string[]): Promise<(number | undefined)[]> {
    const now = await this.now();
    const ends = await this.call((redis) =>
      Promise.all(ids.map((id) => redis.zscore(`${this.root}:until`, id))),
    );
    return ends.map((end) => (end === null ? undefined : Number(end) - now));
  }

  /** Leases that end with this owner. */
  ofOwner(owner: string): Promise<string[]> {
    return this.call((redis) => redis.smembers(ownedKey(this.root, owner)));
  }

  /** Newest first. */
  list(state: LeaseState | undefined, cursor: string | undefined, atMost: number): Promise<LeasePage> {
    const from = cursor === undefined ? '+inf' : `(${cursor}`;
    return this.page(state, atMost, (redis, key) =>
      redis.zrevrangebyscore(key, from, '-inf', 'WITHSCORES', 'LIMIT', 0, atMost),
    );
  }

  /** Oldest first, of one state. */
  walk(state: LeaseState, cursor: string | undefined, atMost: number): Promise<LeasePage> {
    const from = cursor === undefined ? '-inf' : `(${cursor}`;
    return this.page(state, atMost, (redis, key) =>
      redis.zrangebyscore(key, from, '+inf', 'WITHSCORES', 'LIMIT', 0, atMost),
    );
  }

  /** Number of leases that hold a place. */
  places(): Promise<number> {
    return this.call((redis) => redis.zcard(`${this.root}:until`));
  }

  /** Number of leases over for longer than this whose container may still exist. */
  async pastDue(forMs: number): Promise<number> {
    const now = await this.now();
    return this.call((redis) => redis.zcount(`${this.root}:until`, '-inf', now - forMs));
  }

  async counts(): Promise<Readonly<Record<(typeof LIVE_STATES)[number], number>>> {
    const counted = await this.call((redis) =>
      Promise.all(LIVE_STATES.map((state) => redis.zcard(`${this.root}:is:${state}`))),
    );
    return Object.fromEntries(LIVE_STATES.map((state, i) => [state, counted[i]!])) as Record<
      (typeof LIVE_STATES)[number],
      number
    >;
  }

  /** The signing key of this fleet's containers, created by the first process that needs it. */
  secret(): Promise<string> {
    const key = `${this.root}:secret`;
    return this.call(async (redis) => {
      await redis.set(key, randomBytes(32).toString('base64url'), 'NX');
      return (await redis.get(key))!;
    });
  }

  private async page(
    state: LeaseState | undefined,
    atMost: number,
    read: (redis: Redis | Cluster, key: string) => Promise<string[]>,
  ): Promise<LeasePage> {
    const found = await this.call((redis) =>
      read(redis, state ? `${this.root}:is:${state}` : `${this.root}:all`),
    );
    const ids = found.filter((_, i) => i % 2 === 0);
    const leases = await Promise.all(ids.map((id) => this.find(id)));
    return {
      // An expired record stays in the list for a short time.
      leases: leases.filter((lease) => lease !== undefined),
      cursor: ids.length < atMost ? null : found.at(-1)!,
    };
  }
}
