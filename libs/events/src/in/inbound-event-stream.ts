import { Injectable } from '@nestjs/common';
import type { Cluster, Redis } from 'ioredis';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { DEAD_LETTERS_KEPT, eventsDead, eventsIn } from '../keys.js';
import { EVENT_DEFAULTS, EventOptions } from '../options.js';
import { BlockingReader } from './blocking-reader.js';

const GROUP = 'mooring';
const TIDY = readFileSync(new URL('tidy.lua', import.meta.url), 'utf8');
const PAGE = 32;

/** A stream entry. `fields` alternates names and values. */
export interface InboundEntry {
  readonly id: string;
  readonly fields: readonly string[];
}

/** The stream of inbound events, read by a consumer group. */
@Injectable()
export class InboundEventStream {
  /** Consumer name of this process. Unique, because entries of a dead consumer are taken over by name. */
  private readonly consumer = `${process.pid}-${randomBytes(6).toString('hex')}`;
  private readonly redis: Redis | Cluster;
  private readonly key: string;
  private readonly dead: string;
  private readonly reader: BlockingReader;

  constructor(private readonly options: EventOptions) {
    const { redis, prefix } = options.stream!;
    this.redis = redis;
    this.key = eventsIn(prefix);
    this.dead = eventsDead(prefix);
    this.reader = new BlockingReader(redis);
  }

  /** The group starts at the first entry, so that events that arrived before any consumer are read. */
  async createGroup(): Promise<void> {
    try {
      await this.redis.xgroup('CREATE', this.key, GROUP, '0', 'MKSTREAM');
    } catch (error) {
      if (!(error as Error).message.startsWith('BUSYGROUP')) throw error;
    }
  }

  /** Waits for new entries. */
  async read(waitMs: number): Promise<InboundEntry[]> {
    const limits = ['COUNT', PAGE, 'BLOCK', Math.max(1, waitMs)] as const;
    const answer = (await this.reader.read(waitMs, (redis) =>
      redis.xreadgroup('GROUP', GROUP, this.consumer, ...limits, 'STREAMS', this.key, '>'),
    )) as [string, [string, string[]][]][] | null;
    return (answer?.[0]?.[1] ?? []).map(toEntry);
  }

  /** Takes over idle entries of other consumers, whose process is dead or whose answer was lost. Does not count as a try. */
  async takeOver(): Promise<InboundEntry[]> {
    const { redis } = this;
    const idleMs = this.options.takeOverMs ?? EVENT_DEFAULTS.takeOverMs;
    const limits = ['0-0', 'COUNT', PAGE] as const;
    const claimed = await redis.xautoclaim(this.key, GROUP, this.consumer, idleMs, ...limits, 'JUSTID');
    const [, ids] = claimed as [string, string[]];
    const entries = await Promise.all(ids.map((id) => redis.xrange(this.key, id, id)));
    // Entries that were deleted from the stream are acknowledged, because they can no longer be read.
    const deleted = ids.filter((_id, i) => entries[i]!.length === 0);
    await Promise.all(deleted.map((id) => this.acknowledge(id)));
    return entries.flat().map(toEntry);
  }

  /** Claims an entry for a retry. Returns whether it still exists. `counts`: whether this counts as a try. */
  async takeAgain(id: string, counts: boolean): Promise<boolean> {
    const how = counts ? [] : ['JUSTID'];
    const taken = await this.redis.call('xclaim', this.key, GROUP, this.consumer, 0, id, ...how);
    return (taken as unknown[]).some((each) => each !== null);
  }

  /** Number of tries. The store counts them, so the number survives a takeover. */
  async tries(id: string): Promise<number> {
    const [pending] = await this.redis.xpending(this.key, GROUP, id, id, 1);
    return (pending as [string, string, number, number] | undefined)?.[3] ?? 0;
  }

  async acknowledge(id: string): Promise<void> {
    await this.redis.xack(this.key, GROUP, id);
  }

  /** Moves an entry to the dead-letter stream. Adds it there first: a crash in between duplicates it but never loses it. */
  async deadLetter({ id, fields }: InboundEntry, event: string, reason: string): Promise<void> {
    const text = event || JSON.stringify(fields);
    const kept = ['event', text, 'entry', id, 'reason', reason];
    await this.redis.xadd(this.dead, 'MAXLEN', '~', DEAD_LETTERS_KEPT, '*', ...kept);
    await this.acknowledge(id);
  }

  /** Removes acknowledged entries and idle consumers, and this consumer if `leaving`. */
  async tidy({ leaving = false } = {}): Promise<void> {
    const silentMs = this.options.forgetMs ?? EVENT_DEFAULTS.forgetMs;
    await this.redis.eval(TIDY, 1, this.key, GROUP, silentMs, leaving ? this.consumer : '');
  }

  /** Aborts a pending read. */
  stopReading(): void {
    this.reader.stop();
  }
}

function toEntry([id, fields]: [string, string[]]): InboundEntry {
  return { id, fields };
}
