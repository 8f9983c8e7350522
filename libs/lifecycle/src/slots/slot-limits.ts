import { Injectable } from '@nestjs/common';
import { SlotLimitError } from '../errors.js';
import { Slots } from '../gate/slots.js';
import { Keys } from '../keys.js';
import type { SlotOptions } from '../kinds/kind.js';
import { LIFECYCLE_DEFAULTS, LifecycleOptions } from '../options.js';
import { runScript } from '../scripts.js';
import { Store } from '../store.js';
import { checkSlot, nameOfSlot } from './slot-name.js';

/** How many holders, and how many waiters, are named. */
const NAMED = 100;

/** A caller's key as an administrator sees it. */
export interface SlotView {
  readonly key: string;
  /** Null when it is known no more: the next use sets it. */
  readonly limit: number | null;
  readonly holding: number;
  readonly waiting: number;
  /** The first hundred. One that was granted its slot, and has not started yet, holds it as well. */
  readonly holders: readonly { readonly jobId: string; readonly until: string }[];
  readonly waiters: readonly string[];
}

/**
 * The limits of callers' slot keys. Callers share their keys, so a limit is the key's and no job's: otherwise one caller
 * could start all that another one runs singly. Their keys are apart from those of kinds and of deduplication.
 */
@Injectable()
export class SlotLimits {
  private readonly keys: Keys;

  constructor(
    options: LifecycleOptions,
    private readonly store: Store,
    private readonly slots: Slots,
  ) {
    this.keys = new Keys(options.prefix ?? LIFECYCLE_DEFAULTS.prefix);
  }

  /** Before a job of a caller is accepted: throws when the key has another limit. Writes nothing. */
  async check({ key, limit }: Pick<SlotOptions, 'key' | 'limit'>): Promise<void> {
    const [word, present] = await this.run(ofCallers(key, limit), 'check');
    if (word === 'other') throw new SlotLimitError(key, Number(present));
  }

  /** For a job that is accepted: sets the limit at the key's first use. Where another came first, the job runs under that one's. */
  async claim({ key, limit }: Pick<SlotOptions, 'key' | 'limit'>): Promise<void> {
    await this.run(ofCallers(key, limit), 'claim');
  }

  /**
   * Sets the limit whatever it was, and answers what it was; null for a key that had none. A higher one lets the first in line
   * start at once; a lower one ends nothing.
   */
  async set(key: string, limit: number): Promise<number | null> {
    const slot = ofCallers(key, limit);
    const [, was] = await this.run(slot, 'set');
    await this.store.call(() => this.slots.grantFree([nameOfSlot(slot), limit, 0]));
    return was ? Number(was) : null;
  }

  async read(key: string): Promise<SlotView> {
    const name = this.keys.slot(nameOfSlot(ofCallers(key, 1)));
    const now = await this.store.now();
    const { redis } = this.store;
    const [limit, holding, holders, waiting, waiters] = await this.store.call(() =>
      Promise.all([
        redis.get(`${name}:limit`),
        redis.zcount(name, `(${now}`, '+inf'),
        redis.zrangebyscore(name, `(${now}`, '+inf', 'WITHSCORES', 'LIMIT', 0, NAMED),
        redis.zcard(`${name}:waiters`),
        redis.zrange(`${name}:waiters`, 0, String(NAMED - 1)),
      ]),
    );
    return {
      key,
      limit: limit === null ? null : Number(limit),
      holding,
      waiting,
      holders: pairs(holders).map(([hold, until]) => ({
        jobId: hold.slice(0, hold.lastIndexOf('|')),
        until: new Date(Number(until)).toISOString(),
      })),
      waiters,
    };
  }

  private run(slot: SlotOptions, act: 'check' | 'claim' | 'set'): Promise<string[]> {
    const key = this.keys.slot(nameOfSlot(slot));
    return this.store.call(
      () => runScript(this.store.redis, 'slotLimit', [key], [act, slot.limit]) as Promise<string[]>,
    );
  }
}

function ofCallers(key: string, limit: number): SlotOptions {
  const slot = { key, limit, space: 'callers' } as const;
  checkSlot(slot);
  return slot;
}

function pairs(flat: readonly string[]): [string, string][] {
  return Array.from({ length: flat.length / 2 }, (_, i) => [flat[2 * i]!, flat[2 * i + 1]!]);
}
