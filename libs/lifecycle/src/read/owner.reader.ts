import { Injectable } from '@nestjs/common';
import { Keys, RECORD_FIELDS } from '../keys.js';
import { queueOfJobId } from '../kinds/ids.js';
import { formatOwner, type Owner } from '../kinds/owner.js';
import { LIFECYCLE_DEFAULTS, LifecycleOptions } from '../options.js';
import { Queues } from '../queues.js';
import { Store } from '../store.js';

/** An owner and the jobs it has that have not ended. */
export interface OwnerView {
  readonly owner: string;
  readonly state: 'open' | 'closed';
  /** Its generation; null for one that never had a job, or none for long. */
  readonly epoch: string | null;
  readonly counts: { readonly jobs: number; readonly running: number };
  readonly jobs: readonly {
    readonly id: string;
    readonly queue: string;
    readonly acceptedAt: string;
    readonly hasBegun: boolean;
  }[];
  /** Where the next page begins; null on the last one. */
  readonly cursor: string | null;
}

const PAGE = 100;

/** Reads what an owner has: a page at a time, at a cost that follows its own jobs. */
@Injectable()
export class OwnerReader {
  private readonly keys: Keys;

  constructor(
    options: LifecycleOptions,
    private readonly queues: Queues,
    private readonly store: Store,
  ) {
    this.keys = new Keys(options.prefix ?? LIFECYCLE_DEFAULTS.prefix);
  }

  read(owner: Owner, cursor = '0'): Promise<OwnerView> {
    const record = this.keys.owner(owner);
    return this.store.call(async () => {
      const { redis } = this.store;
      const [[epoch, state], size, running, [next, fields]] = await Promise.all([
        redis.hmget(record, 'e', 's'),
        redis.hlen(record),
        redis.zcard(`${record}:runs`),
        redis.hscan(record, cursor, 'MATCH', 'j*', 'COUNT', PAGE),
      ]);
      return {
        owner: formatOwner(owner),
        state: state === 'closed' ? 'closed' : 'open',
        epoch: epoch ?? null,
        counts: { jobs: Math.max(0, size - RECORD_FIELDS), running },
        jobs: this.readIndex(fields, epoch ?? ''),
        cursor: next === '0' ? null : next,
      };
    });
  }

  /** Entries of an epoch before the current one are of cancelled jobs, and on their way out. */
  private readIndex(fields: readonly string[], epoch: string): OwnerView['jobs'][number][] {
    const jobs: OwnerView['jobs'][number][] = [];
    for (let i = 0; i < fields.length; i += 2) {
      const id = fields[i]!.slice(1);
      const [entryEpoch, acceptedAt, fence] = fields[i + 1]!.split('|');
      const queue = queueOfJobId(id);
      if (!queue || !this.queues.has(queue) || entryEpoch !== epoch) continue;
      jobs.push({
        id,
        queue,
        acceptedAt: new Date(Number(acceptedAt)).toISOString(),
        hasBegun: fence !== '0',
      });
    }
    return jobs;
  }
}
