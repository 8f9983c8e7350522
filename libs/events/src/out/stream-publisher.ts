import type { Fact, Publisher } from '#nestjs';
import type { OnApplicationShutdown } from '@nestjs/common';
import type { Cluster, Redis } from 'ioredis';
import { randomBytes } from 'node:crypto';
import { setImmediate as immediate, setTimeout as pause } from 'node:timers/promises';
import type { EventListener } from '../facts.js';
import { eventsOut } from '../keys.js';
import { notify } from '../options.js';
import { outboundEvent, type OutboundEvent, type PublishLevel } from './outbound-event.js';

export interface StreamPublisherOptions {
  readonly redis: Redis | Cluster;
  readonly prefix: string;
  readonly publish: PublishLevel;
  /** Approximate number of events that the stream keeps. */
  readonly keep: number;
  readonly listeners?: readonly EventListener[];
}

/** Events buffered while the store is slow or unavailable. Further events are lost and counted. */
const MAX_WAITING = 10_000;
const MAX_BATCH = 500;
const REPORT_EVERY_MS = 10_000;
/** Time for pending writes at shutdown. */
const SHUTDOWN_MS = 1_000;

interface Waiting {
  readonly text: string;
  /** Called with whether the event was written. Set for events whose publication is tracked. */
  readonly settle?: (isWritten: boolean) => void;
}

/**
 * Publishes the outcome of owners, jobs and sweeps to a Redis stream. Callers never wait for it: the events of one turn of the
 * event loop are written in one pipeline, one pipeline at a time.
 */
export class StreamPublisher implements Publisher, OnApplicationShutdown {
  private readonly key: string;
  private readonly source: string;
  /** Event ids combine a random name of this process with a counter, so they are unique. */
  private readonly process = randomBytes(6).toString('base64url');
  private count = 0;
  private waiting: Waiting[] = [];
  private writing: Promise<void> | undefined;
  private lost = 0;
  private reportedAt = -REPORT_EVERY_MS;

  constructor(private readonly options: StreamPublisherOptions) {
    this.key = eventsOut(options.prefix);
    this.source = `/mooring/${options.prefix}`;
  }

  publish(fact: Fact): Promise<boolean> | undefined {
    const event = this.options.publish === 'off' ? undefined : outboundEvent(fact, this.options.publish);
    return event && this.enqueue(event);
  }

  /** Nest calls this hook last, so that facts of the shutdown are published too. */
  async onApplicationShutdown(): Promise<void> {
    await Promise.race([this.writing, pause(SHUTDOWN_MS, undefined, { ref: false })]);
    if (this.waiting.length > 0) this.lose(this.waiting.length, 'the process ended before they were written');
    this.report('the process is shutting down');
  }

  /** Only an event with its own id gets a promise of whether it was written. */
  private enqueue(event: OutboundEvent): Promise<boolean> | undefined {
    if (this.waiting.length >= MAX_WAITING) {
      this.lose(1, 'the store does not accept them fast enough');
      return event.id === undefined ? undefined : Promise.resolve(false);
    }
    const text = JSON.stringify(this.envelope(event));
    this.writing ??= immediate().then(() => this.write());
    if (event.id !== undefined) return new Promise((settle) => this.waiting.push({ text, settle }));
    this.waiting.push({ text });
    return undefined;
  }

  private envelope(event: OutboundEvent): object {
    const id = event.id ?? `${this.process}-${(this.count += 1).toString(36)}`;
    const time = new Date().toISOString();
    const common = { specversion: '1.0', id, source: this.source, time, datacontenttype: 'application/json' };
    return { ...common, ...event, id };
  }

  private async write(): Promise<void> {
    while (this.waiting.length > 0) {
      const events = this.waiting.splice(0, MAX_BATCH);
      try {
        await this.add(events);
      } catch (error) {
        for (const { settle } of events) settle?.(false);
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
    for (const [i, { settle }] of events.entries()) settle?.(answers[i]?.[0] === null);
    const errors = answers.flatMap(([error]) => (error ? [error] : []));
    if (errors.length > 0) this.lose(errors.length, errors[0]!.message);
  }

  private lose(count: number, why: string): void {
    this.lost += count;
    // Reported at intervals, because an outage loses many.
    if (performance.now() - this.reportedAt >= REPORT_EVERY_MS) this.report(why);
  }

  private report(why: string): void {
    if (this.lost === 0) return;
    const count = this.lost;
    this.lost = 0;
    this.reportedAt = performance.now();
    notify(this.options, { event: 'events.lost', count, why });
  }
}
