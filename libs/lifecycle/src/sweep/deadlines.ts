import { Injectable } from '@nestjs/common';
import { Keys } from '../keys.js';
import type { Envelope } from '../kinds/envelope.js';
import { LIFECYCLE_DEFAULTS, LifecycleOptions } from '../options.js';
import { runScript } from '../scripts.js';
import { Store } from '../store.js';
import { SHARDS, shardOf } from './shards.js';

/** A shorter life is over before it is worth a call to take it off the list. */
const WORTH_A_CALL_MS = 60_000;

/** When a job may be too late. Triggers that were left to it may have moved that: its owner's record knows. */
export interface Deadline {
  readonly jobId: string;
  /** How long after it was last wanted it may start, ms. */
  readonly lifeMs: number;
  /** Its primary owner. */
  readonly owner: string;
  readonly dueMs: number;
  /** As it stands in the list. */
  readonly entry: string;
}

/** Where a reader of the list is. What has been dealt with has left the part; what only was looked at is passed over. */
export interface DuePlace {
  readonly shard: number;
  readonly skip: number;
}

type Mortal = Pick<Envelope, 'o' | 'x'>;

/** The list of deadlines: which jobs may be too late by now, whatever else waits. A hint, never the truth. */
@Injectable()
export class Deadlines {
  private readonly keys: Keys;

  constructor(
    options: LifecycleOptions,
    private readonly store: Store,
  ) {
    this.keys = new Keys(options.prefix ?? LIFECYCLE_DEFAULTS.prefix);
  }

  /** Before the job is added: there is none that would be forgotten. */
  async note(jobId: string, envelope: Mortal, wantedAtMs: number): Promise<void> {
    if (envelope.x === undefined) return;
    await this.store.redis.zadd(this.partOf(jobId), wantedAtMs + envelope.x, entryOf(jobId, envelope));
  }

  /** It has ended. Nobody waits for this: what stays leaves when it is due. */
  async forget(jobId: string, envelope: Mortal): Promise<void> {
    if (envelope.x === undefined || envelope.x < WORTH_A_CALL_MS) return;
    await this.store.redis.zrem(this.partOf(jobId), entryOf(jobId, envelope));
  }

  async isAnyDue(nowMs: number): Promise<boolean> {
    const heads = await this.store.call(() =>
      Promise.all(Array.from({ length: SHARDS }, (_, shard) => this.read(shard, nowMs, 0, 1))),
    );
    return heads.some((head) => head.length > 0);
  }

  /** The next so many that were due before now; no place behind the last ones. */
  async page(from: DuePlace, nowMs: number, limit: number): Promise<{ due: Deadline[]; next?: DuePlace }> {
    const due: Deadline[] = [];
    for (let { shard, skip } = from; shard < SHARDS; shard += 1, skip = 0) {
      const most = limit - due.length;
      const texts = await this.store.call(() => this.read(shard, nowMs, skip, most));
      for (let i = 0; i < texts.length; i += 2) due.push(readEntry(texts[i]!, Number(texts[i + 1])));
      if (texts.length / 2 === most) return { due, next: { shard, skip: skip + most } };
    }
    return { due };
  }

  /** When each is looked at again; never, where nothing is said. One that was written anew meanwhile stays as it is. */
  async settle(
    looked: readonly (readonly [deadline: Deadline, againMs: number | undefined])[],
  ): Promise<void> {
    const parts = new Map<string, (string | number)[]>();
    for (const [{ jobId, entry, dueMs }, againMs] of looked) {
      const part = this.partOf(jobId);
      parts.set(part, [...(parts.get(part) ?? []), entry, dueMs, againMs ?? '']);
    }
    await Promise.all(
      [...parts].map(([part, args]) =>
        this.store.call(() => runScript(this.store.redis, 'due', [part], args)),
      ),
    );
  }

  private partOf(jobId: string): string {
    return this.keys.due(shardOf(jobId));
  }

  private read(shard: number, nowMs: number, skip: number, limit: number): Promise<string[]> {
    return this.store.redis.zrangebyscore(
      this.keys.due(shard),
      '-inf',
      `(${nowMs}`,
      'WITHSCORES',
      'LIMIT',
      skip,
      limit,
    );
  }
}

function entryOf(jobId: string, { x, o }: Mortal): string {
  return `${jobId}|${x}|${o[0]}`;
}

/** An owner's name may have a bar in it, the others not. */
function readEntry(entry: string, dueMs: number): Deadline {
  const [jobId = '', life = ''] = entry.split('|', 2);
  const owner = entry.slice(jobId.length + life.length + 2);
  return { jobId, lifeMs: Number(life), owner, dueMs, entry };
}
