import { Injectable } from '@nestjs/common';
import { MooringStore } from '../store/mooring-store.js';

/** A heartbeat is kept for so long. */
const KEPT_MS = 35_000;
const MOST_LISTED = 1_000;

/** What a worker process says of itself. Times are in ms. */
export interface WorkerBeat {
  readonly id: string;
  readonly host: string;
  readonly pid: number;
  /** Of the application; null if it does not say. */
  readonly version: string | null;
  readonly state: 'running' | 'draining';
  readonly startedAt: number;
  readonly at: number;
  readonly queues: readonly {
    readonly queue: string;
    readonly concurrency: number;
    readonly kinds: readonly string[];
  }[];
  /** How many jobs it runs. */
  readonly running: number;
  readonly runs: readonly {
    readonly jobId: string;
    readonly kind: string;
    readonly queue: string;
    readonly owner: string;
    readonly attempt: number;
    readonly since: number;
  }[];
}

/**
 * The heartbeats of worker processes.
 *
 *  <root>~worker~<id>  the last heartbeat of a process, as JSON; it expires
 *  <root>~workers      zset: the ids of these, by time, ms; each heartbeat removes those that have expired
 */
@Injectable()
export class Heartbeats {
  constructor(private readonly store: MooringStore) {}

  async write(beat: WorkerBeat): Promise<void> {
    await this.store.write([
      ['SET', this.keyOf(beat.id), JSON.stringify(beat), 'PX', KEPT_MS],
      ['ZADD', this.list, beat.at, beat.id],
      ['ZREMRANGEBYSCORE', this.list, '-inf', beat.at - 2 * KEPT_MS],
      ['PEXPIRE', this.list, 2 * KEPT_MS],
    ]);
  }

  async remove(id: string): Promise<void> {
    await this.store.write([
      ['DEL', this.keyOf(id)],
      ['ZREM', this.list, id],
    ]);
  }

  async all(): Promise<WorkerBeat[]> {
    const ids = await this.store.call<string[]>('zrevrange', this.list, 0, MOST_LISTED - 1);
    if (ids.length === 0) return [];
    const beats = await this.store.call<(string | null)[]>('mget', ...ids.map((id) => this.keyOf(id)));
    return beats.flatMap((beat) => (beat === null ? [] : [JSON.parse(beat) as WorkerBeat]));
  }

  private get list(): string {
    return `${this.store.root}~workers`;
  }

  private keyOf(id: string): string {
    return `${this.store.root}~worker~${id}`;
  }
}
