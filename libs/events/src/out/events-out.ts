import type { Fact } from '#lifecycle';
import type { OnApplicationShutdown } from '@nestjs/common';
import type { Cluster, Redis } from 'ioredis';
import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { EventListener } from '../facts.js';
import { eventsOut } from '../keys.js';
import { outgoing, type Tell } from './outgoing.js';

export interface EventsOutOptions {
  readonly redis: Redis | Cluster;
  readonly prefix: string;
  readonly tell: Tell;
  /** How many events the stream keeps, about. */
  readonly keep: number;
  readonly listeners?: readonly EventListener[];
}

/** What waits at most, should the store be away or slow; what comes then is lost, and counted. */
const MAX_WAITING = 10_000;
const MOST_AT_ONCE = 500;
const SAY_AGAIN_MS = 10_000;
/** How long the last ones may take when the process ends. */
const LAST_MS = 1_000;

/**
 * Tells other services, by a stream, what became of owners and jobs. It is a listener of the journal, and nobody waits for
 * it: what is said in one turn of the event loop goes to the store together, one such write at a time.
 */
export class EventsOut implements OnApplicationShutdown {
  private readonly key: string;
  private readonly source: string;
  /** Ids are never used twice: a name for this process, and a number. */
  private readonly process = randomBytes(6).toString('base64url');
  private told = 0;
  private waiting: string[] = [];
  private writing: Promise<void> | undefined;
  private lost = 0;
  private saidAt = -SAY_AGAIN_MS;

  constructor(private readonly options: EventsOutOptions) {
    this.key = eventsOut(options.prefix);
    this.source = `/mooring/${options.prefix}`;
  }

  /** To be put among the listeners of the lifecycle. */
  readonly record = (fact: Fact): void => {
    if (this.options.tell === 'off') return;
    const news = outgoing(fact, this.options.tell);
    if (!news) return;
    if (this.waiting.length >= MAX_WAITING) return this.lose(1, 'the store does not take them fast enough');
    const id = news.id ?? `${this.process}-${(this.told += 1).toString(36)}`;
    const time = new Date().toISOString();
    const envelope = {
      specversion: '1.0',
      id,
      source: this.source,
      time,
      datacontenttype: 'application/json',
    };
    this.waiting.push(JSON.stringify({ ...envelope, ...news, id }));
    this.writing ??= new Promise((resolve) => {
      setImmediate(() => void this.write().finally(resolve));
    });
  };

  /** After all that a process had to say at its end. */
  async onApplicationShutdown(): Promise<void> {
    await Promise.race([this.writing, pause(LAST_MS, undefined, { ref: false })]);
    if (this.waiting.length > 0)
      this.lose(this.waiting.length, 'the process ended before the store took them');
    this.say('the process ends');
  }

  private async write(): Promise<void> {
    while (this.waiting.length > 0) {
      const events = this.waiting.splice(0, MOST_AT_ONCE);
      try {
        await this.add(events);
      } catch (error) {
        this.lose(events.length, (error as Error).message);
      }
    }
    this.writing = undefined;
  }

  private async add(events: readonly string[]): Promise<void> {
    const { redis, keep } = this.options;
    const pipeline = redis.pipeline();
    for (const event of events) pipeline.xadd(this.key, 'MAXLEN', '~', keep, '*', 'event', event);
    const answers = (await pipeline.exec()) ?? [];
    const errors = answers.flatMap(([error]) => (error ? [error] : []));
    if (errors.length > 0) this.lose(errors.length, errors[0]!.message);
  }

  private lose(count: number, why: string): void {
    this.lost += count;
    // One that loses many says so now and then, not each time.
    if (performance.now() - this.saidAt >= SAY_AGAIN_MS) this.say(why);
  }

  private say(why: string): void {
    if (this.lost === 0) return;
    const count = this.lost;
    this.lost = 0;
    this.saidAt = performance.now();
    for (const listener of this.options.listeners ?? []) listener({ event: 'events.lost', count, why });
  }
}
