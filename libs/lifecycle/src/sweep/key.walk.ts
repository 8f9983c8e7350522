import { Injectable } from '@nestjs/common';
import { Cluster, type Redis } from 'ioredis';
import { StoreUnavailableError } from '../errors.js';
import { Slots } from '../gate/slots.js';
import { Journal } from '../journal.js';
import { PLACE_GRACE_MS, RECORD_FIELDS } from '../keys.js';
import { queueOfJobId } from '../kinds/ids.js';
import { LIFECYCLE_DEFAULTS, LifecycleOptions } from '../options.js';
import { Queues } from '../queues.js';
import { Store } from '../store.js';
import { ClosedOwners } from './closed-owners.js';
import { Healing, type Tally } from './healing.js';
import { OwnerDirectory } from './owner.directory.js';
import type { Round } from './sweep.js';

/** How many keys one call goes over, and how many waiters of a slot are looked at. */
const KEYS_AT_ONCE = 500;
const WAITERS = 100;

const RECORD = /:\{[\w-]{22}\}$/;
const SLOT = /:\{slot:[\w-]{22}\}$/;
const WAITING = /:\{slot:[\w-]{22}\}:waiters$/;

/**
 * Goes over the store's keys for what no list leads to: owners that were not listed because their producer died, and lines for
 * slots in which jobs stand that are gone. On a Cluster it goes from master to master.
 */
@Injectable()
export class KeyWalk {
  private readonly pattern: string;

  constructor(
    options: LifecycleOptions,
    private readonly store: Store,
    private readonly queues: Queues,
    private readonly directory: OwnerDirectory,
    private readonly slots: Slots,
    private readonly closed: ClosedOwners,
    private readonly healing: Healing,
    private readonly journal: Journal,
  ) {
    const prefix = options.prefix ?? LIFECYCLE_DEFAULTS.prefix;
    this.pattern = `${prefix.replace(/[*?[\]\\]/g, String.raw`\$&`)}:{*`;
  }

  /** One call's worth of keys; answers where the next begins, nothing at the end. */
  async step(
    from: string | undefined,
    nowMs: number,
    tally: Tally,
    round: Round,
  ): Promise<string | undefined> {
    const nodes = this.nodes();
    const names = [...nodes.keys()].toSorted((a, b) => a.localeCompare(b));
    const [name = names[0]!, cursor = '0'] = from?.split('|') ?? [];
    // A master that is no more: its keys are another's, and found there by the next walk.
    const node = nodes.get(name);
    const [next, keys] = node
      ? await this.store.call(() => node.scan(cursor, 'MATCH', this.pattern, 'COUNT', KEYS_AT_ONCE))
      : ['0', []];
    const records = keys.filter((key) => RECORD.test(key));
    await this.listAll(records, tally, round);
    if (round.force) await this.closed.purge(records, nowMs, tally, round);
    for (const key of keys) await this.tidy(key, nowMs, tally, round);
    if (next !== '0') return `${name}|${next}`;
    const following = names.find((other) => other > name);
    return following === undefined ? undefined : `${following}|0`;
  }

  private nodes(): Map<string, Redis> {
    const { redis } = this.store;
    if (!(redis instanceof Cluster)) return new Map([['store', redis]]);
    return new Map(redis.nodes('master').map((node) => [`${node.options.host}:${node.options.port}`, node]));
  }

  private async listAll(records: readonly string[], tally: Tally, { dryRun }: Round): Promise<void> {
    const { redis } = this.store;
    const found = await Promise.allSettled(
      records.map((record) =>
        this.store.call(() => Promise.all([redis.hget(record, 'o'), redis.hlen(record)])),
      ),
    );
    // One that cannot be read must not stand before the others.
    tally.failed += found.filter(({ status }) => status === 'rejected').length;
    const owning = found.flatMap((one) => {
      const [owner, size] = one.status === 'fulfilled' ? one.value : [null, 0];
      return owner !== null && size > RECORD_FIELDS ? [owner] : [];
    });
    for (const owner of await this.directory.unlisted(owning)) {
      if (!dryRun) await this.directory.list(owner);
      this.healing.count('list', owner, 'it has jobs, and was not listed', tally, dryRun);
    }
  }

  private async tidy(key: string, nowMs: number, tally: Tally, round: Round): Promise<void> {
    try {
      if (SLOT.test(key)) await this.tidySlot(key, nowMs, tally, round);
      if (WAITING.test(key)) await this.tidyLine(key, nowMs, tally, round);
    } catch (error) {
      // A store that does not answer has all of them fail; of one that cannot be read the others are not to suffer.
      if (error instanceof StoreUnavailableError) throw error;
      this.journal.sweepTrouble('repair', key, error);
      tally.failed += 1;
    }
  }

  /** Holds that ran out go when somebody comes for the slot; here nobody may come any more. */
  private async tidySlot(key: string, nowMs: number, tally: Tally, { dryRun }: Round): Promise<void> {
    const over = await this.store.call(() => this.store.redis.zcount(key, '-inf', String(nowMs)));
    if (over === 0) return;
    if (!dryRun) await this.store.call(() => this.slots.tidy(key, ''));
    this.healing.count('slot', key, 'a hold that ran out', tally, dryRun);
  }

  private async tidyLine(key: string, nowMs: number, tally: Tally, { dryRun }: Round): Promise<void> {
    const waiters = await this.store.call(() =>
      this.store.redis.zrange(key, '0', String(WAITERS - 1), 'WITHSCORES'),
    );
    for (let i = 0; i < waiters.length; i += 2) {
      const [jobId, place] = [waiters[i]!, Number(waiters[i + 1])];
      // It stands in line before it is added.
      if (nowMs - place / 1_000 < PLACE_GRACE_MS || !(await this.isGone(jobId))) continue;
      if (!dryRun) await this.store.call(() => this.slots.tidy(key.replace(/:waiters$/, ''), jobId));
      this.healing.count('slot', jobId, 'it stands in line and is gone', tally, dryRun);
    }
  }

  private async isGone(jobId: string): Promise<boolean> {
    const queue = this.queues.open(queueOfJobId(jobId) ?? 'unknown');
    const state = await this.store.call(() => queue.getJobState(jobId));
    return state === 'unknown' || state === 'completed' || state === 'failed';
  }
}
