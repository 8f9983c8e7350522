import { LIFECYCLE_DEFAULTS, LifecycleOptions } from '#lifecycle';
import { Injectable } from '@nestjs/common';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { DEAD_KEEP, eventsDead, eventsIn } from '../keys.js';
import { EVENT_DEFAULTS, EventOptions } from '../options.js';
import { BlockingReader } from './blocking-reader.js';

const GROUP = 'mooring';
const TIDY = readFileSync(new URL('tidy.lua', import.meta.url), 'utf8');
const MANY = 32;

/** An entry of the stream: its id, and its fields and values in turn. */
export interface InboundEntry {
  readonly id: string;
  readonly fields: readonly string[];
}

/** The stream of events that come in, and what can be done with its entries. */
@Injectable()
export class InboundEventStream {
  /** This process among those that read. Never used again by another: what a dead one holds is taken over by name. */
  private readonly consumer = `${process.pid}-${randomBytes(6).toString('hex')}`;
  private readonly key: string;
  private readonly dead: string;
  private readonly reader: BlockingReader;

  constructor(
    private readonly lifecycle: LifecycleOptions,
    private readonly options: EventOptions,
  ) {
    const { redis, prefix = LIFECYCLE_DEFAULTS.prefix } = lifecycle;
    this.key = eventsIn(prefix);
    this.dead = eventsDead(prefix);
    this.reader = new BlockingReader(redis);
  }

  /** From its first entry on: what came before anybody read is meant to be read. */
  async createGroup(): Promise<void> {
    try {
      await this.lifecycle.redis.xgroup('CREATE', this.key, GROUP, '0', 'MKSTREAM');
    } catch (error) {
      if (!(error as Error).message.startsWith('BUSYGROUP')) throw error;
    }
  }

  /** Entries that nobody has read; waits for them. */
  async read(waitMs: number): Promise<InboundEntry[]> {
    const answer = (await this.reader.ask(waitMs, (redis) =>
      redis.xreadgroup(
        'GROUP',
        GROUP,
        this.consumer,
        'COUNT',
        MANY,
        'BLOCK',
        Math.max(1, waitMs),
        'STREAMS',
        this.key,
        '>',
      ),
    )) as [string, [string, string[]][]][] | null;
    return (answer?.[0]?.[1] ?? []).map(toEntry);
  }

  /** Entries that lie with a process that does nothing about them: it is dead, or its answer was lost. Not counted as a try. */
  async takeOver(): Promise<InboundEntry[]> {
    const { redis } = this.lifecycle;
    const idleMs = this.options.takeOverMs ?? EVENT_DEFAULTS.takeOverMs;
    const [, ids] = (await redis.xautoclaim(
      this.key,
      GROUP,
      this.consumer,
      idleMs,
      '0-0',
      'COUNT',
      MANY,
      'JUSTID',
    )) as [string, string[]];
    const entries = await Promise.all(ids.map((id) => redis.xrange(this.key, id, id)));
    // Somebody deleted it: there is nothing to do about it but to forget it.
    const deleted = ids.filter((_id, i) => entries[i]!.length === 0);
    await Promise.all(deleted.map((id) => this.acknowledge(id)));
    return entries.flat().map(toEntry);
  }

  /** Takes an entry to try it again; whether it is there to be had. It counts as a try, or not. */
  async takeAgain(id: string, counts: boolean): Promise<boolean> {
    const how = counts ? [] : ['JUSTID'];
    const taken = (await this.lifecycle.redis.call(
      'xclaim',
      this.key,
      GROUP,
      this.consumer,
      0,
      id,
      ...how,
    )) as unknown[];
    return taken.some((each) => each !== null);
  }

  /** How often it was begun with. The store counts, so that it is known whoever has the entry. */
  async tries(id: string): Promise<number> {
    const [pending] = (await this.lifecycle.redis.xpending(this.key, GROUP, id, id, 1)) as [
      string,
      string,
      number,
      number,
    ][];
    return pending?.[3] ?? 0;
  }

  async acknowledge(id: string): Promise<void> {
    await this.lifecycle.redis.xack(this.key, GROUP, id);
  }

  /** Given up, and put where somebody may look at it. First there, then out of here: rather twice than never. */
  async bury({ id, fields }: InboundEntry, event: string, reason: string): Promise<void> {
    const text = event || JSON.stringify(fields);
    const kept = ['event', text, 'entry', id, 'reason', reason];
    await this.lifecycle.redis.xadd(this.dead, 'MAXLEN', '~', DEAD_KEEP, '*', ...kept);
    await this.acknowledge(id);
  }

  /** What is acknowledged leaves the stream; so do consumers that are gone, and this one when it leaves. */
  async tidy({ leaving = false } = {}): Promise<void> {
    const silentMs = this.options.forgetMs ?? EVENT_DEFAULTS.forgetMs;
    await this.lifecycle.redis.eval(TIDY, 1, this.key, GROUP, silentMs, leaving ? this.consumer : '');
  }

  /** A read that waits ends at once. */
  stopReading(): void {
    this.reader.stop();
  }
}

function toEntry([id, fields]: [string, string[]]): InboundEntry {
  return { id, fields };
}
