import type { Fact, Teller } from '#lifecycle';
import type { OnApplicationShutdown } from '@nestjs/common';
import type { Cluster, Redis } from 'ioredis';
import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { EventListener } from '../facts.js';
import { eventsOut } from '../keys.js';
import { outgoing, type Outgoing, type Tell } from './outbound-event.js';

export interface StreamPublisherOptions {
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

interface Waiting {
  readonly text: string;
  /** To be said of what lasts: whether it was written. */
  readonly told?: (isTold: boolean) => void;
}

/**
 * Tells other services, by a stream, what became of owners and jobs. It is the teller of the lifecycle, and nobody waits for
 * it: what is said in one turn of the event loop goes to the store together, one such write at a time.
 */
export class StreamPublisher implements Teller, OnApplicationShutdown {
  readonly tellsCancels: boolean;
  readonly tellsSweeps: boolean;
  private readonly key: string;
  private readonly source: string;
  /** Ids are never used twice: a name for this process, and a number. */
  private readonly process = randomBytes(6).toString('base64url');
  private told = 0;
  private waiting: Waiting[] = [];
  private writing: Promise<void> | undefined;
  private lost = 0;
  private saidAt = -SAY_AGAIN_MS;

  constructor(private readonly options: StreamPublisherOptions) {
    this.key = eventsOut(options.prefix);
    this.source = `/mooring/${options.prefix}`;
    this.tellsCancels = options.tell !== 'off';
    this.tellsSweeps = options.tell === 'all';
  }

  record(fact: Fact): Promise<boolean> | undefined {
    const news = this.options.tell === 'off' ? undefined : outgoing(fact, this.options.tell);
    return news && this.take(news);
  }

  /** After all that a process had to say at its end. */
  async onApplicationShutdown(): Promise<void> {
    await Promise.race([this.writing, pause(LAST_MS, undefined, { ref: false })]);
    if (this.waiting.length > 0)
      this.lose(this.waiting.length, 'the process ended before the store took them');
    this.say('the process ends');
  }

  /** Of what has an id of its own is said whether it was written. */
  private take(news: Outgoing): Promise<boolean> | undefined {
    if (this.waiting.length >= MAX_WAITING) {
      this.lose(1, 'the store does not take them fast enough');
      return news.id === undefined ? undefined : Promise.resolve(false);
    }
    const text = JSON.stringify(this.envelope(news));
    this.writing ??= new Promise((resolve) => {
      setImmediate(() => void this.write().finally(resolve));
    });
    if (news.id !== undefined) return new Promise((told) => this.waiting.push({ text, told }));
    this.waiting.push({ text });
    return undefined;
  }

  private envelope(news: Outgoing): object {
    const id = news.id ?? `${this.process}-${(this.told += 1).toString(36)}`;
    const time = new Date().toISOString();
    const common = { specversion: '1.0', id, source: this.source, time, datacontenttype: 'application/json' };
    return { ...common, ...news, id };
  }

  private async write(): Promise<void> {
    while (this.waiting.length > 0) {
      const events = this.waiting.splice(0, MOST_AT_ONCE);
      try {
        await this.add(events);
      } catch (error) {
        for (const { told } of events) told?.(false);
        this.lose(events.length, (error as Error).message);
      }
    }
    this.writing = undefined;
  }

  private async add(events: readonly Waiting[]): Promise<void> {
    const { redis, keep } = this.options;
    const pipeline = redis.pipeline();
    for (const { text } of events) pipeline.xadd(this.key, 'MAXLEN', '~', keep, '*', 'event', text);
    const answers = (await pipeline.exec()) ?? [];
    for (const [i, { told }] of events.entries()) told?.(answers[i]?.[0] === null);
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
