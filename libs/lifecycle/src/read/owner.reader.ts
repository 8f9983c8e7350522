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
  /**
   * Of the whole owner, whichever page is read. `ending`: jobs of a generation before, cancelled and on their way out, as
   * many as this page met; those of other pages still count among `jobs`, for nobody counts them without reading them.
   * `running`: runs that live, of ending jobs too until they have stopped.
   */
  readonly counts: { readonly jobs: number; readonly running: number; readonly ending: number };
  readonly jobs: readonly OwnedJob[];
  /** Where the next page begins; null on the last one. */
  readonly cursor: string | null;
}

interface OwnedJob {
  readonly id: string;
  readonly queue: string;
  readonly acceptedAt: string;
  readonly hasBegun: boolean;
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
      const [seconds, micros] = await redis.time();
      const now = Number(seconds) * 1_000 + Math.floor(Number(micros) / 1_000);
      const [[epoch, state], size, running, [next, fields]] = await Promise.all([
        redis.hmget(record, 'e', 's'),
        redis.hlen(record),
        // One whose lease has ended belongs to a worker that died.
        redis.zcount(`${record}:runs`, `(${now}`, '+inf'),
        redis.hscan(record, cursor, 'MATCH', 'j*', 'COUNT', PAGE),
      ]);
      const { jobs, ending } = this.readIndex(fields, epoch ?? '');
      return {
        owner: formatOwner(owner),
        state: state === 'closed' ? 'closed' : 'open',
        epoch: epoch ?? null,
        counts: { jobs: Math.max(0, size - RECORD_FIELDS - ending), running, ending },
        jobs,
        cursor: next === '0' ? null : next,
      };
    });
  }

  /** Those of them that are closed: asked for many at once, and nothing else of them. */
  closedAmong(owners: readonly Owner[]): Promise<Owner[]> {
    return this.store.call(async () => {
      const states = await Promise.all(
        owners.map((owner) => this.store.redis.hget(this.keys.owner(owner), 's')),
      );
      return owners.filter((_owner, i) => states[i] === 'closed');
    });
  }

  /** Entries of an epoch before the current one are of cancelled jobs, and on their way out. */
  private readIndex(fields: readonly string[], epoch: string): { jobs: OwnedJob[]; ending: number } {
    const jobs: OwnedJob[] = [];
    let ending = 0;
    for (let i = 0; i < fields.length; i += 2) {
      const id = fields[i]!.slice(1);
      const [entryEpoch, acceptedAt, fence] = fields[i + 1]!.split('|');
      const queue = queueOfJobId(id);
      if (entryEpoch !== epoch) ending += 1;
      else if (queue && this.queues.has(queue)) {
        jobs.push({
          id,
          queue,
          acceptedAt: new Date(Number(acceptedAt)).toISOString(),
          hasBegun: fence !== '0',
        });
      }
    }
    return { jobs, ending };
  }
}
