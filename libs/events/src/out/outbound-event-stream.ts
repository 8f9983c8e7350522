import type { Cluster, Redis } from 'ioredis';
import { eventsOut } from '../keys.js';

/** An entry of the stream: the id that the store gave it, and the CloudEvent. */
export interface OutboundEntry {
  readonly id: string;
  readonly text: string;
}

const ENTRY_ID = /^\d{1,15}-\d{1,19}$/;

/** Reads what a `StreamPublisher` has written. */
export class OutboundEventStream {
  private readonly key: string;

  constructor(
    private readonly redis: Redis | Cluster,
    prefix: string,
  ) {
    this.key = eventsOut(prefix);
  }

  /** The id of the newest entry: what follows it is new. */
  async newest(): Promise<string> {
    const [entry] = await this.redis.xrevrange(this.key, '+', '-', 'COUNT', 1);
    return entry?.[0] ?? '0-0';
  }

  /** Whether every entry after this one is still kept. */
  async hasAllAfter(id: string): Promise<boolean> {
    if (!ENTRY_ID.test(id)) return false;
    const [oldest] = await this.redis.xrange(this.key, '-', '+', 'COUNT', 1);
    return oldest !== undefined && compareIds(oldest[0], id) <= 0;
  }

  /** The entries after this one, oldest first. */
  async readAfter(id: string, limit: number): Promise<OutboundEntry[]> {
    const found = await this.redis.xrange(this.key, `(${id}`, '+', 'COUNT', limit);
    return found.map(([each, fields]) => ({ id: each, text: fields[1] ?? '{}' }));
  }
}

function compareIds(one: string, other: string): number {
  const [ms, counter] = one.split('-').map(Number) as [number, number];
  const [otherMs, otherCounter] = other.split('-').map(Number) as [number, number];
  return ms - otherMs || counter - otherCounter;
}
