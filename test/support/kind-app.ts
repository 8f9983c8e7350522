import { Owners } from '#core';
import { KindProcessor, MooringModule, type Fact, type Kind, type MooringOptions } from '#nestjs';
import '#nestjs/register';
import { Processor } from '@nestjs/bullmq';
import {
  Module,
  type DynamicModule,
  type INestApplicationContext,
  type Provider,
  type Type,
} from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import { inject } from 'vitest';
import { inOneSlot } from './in-one-slot.js';
import { untilNothingIsLeft } from './leftovers.js';

/** An application of kinds under a prefix of its own. Without processors it only enqueues. */
export class KindApp {
  readonly prefix = inOneSlot(`test-kinds-${randomBytes(4).toString('hex')}`);
  readonly redis: Redis;
  readonly owners: Owners;
  /** The facts that its applications emitted, in order. */
  readonly facts: Fact[] = [];
  private readonly contexts: INestApplicationContext[] = [];

  constructor(readonly storeUrl = inject('storeUrl')) {
    this.redis = new Redis(storeUrl, { maxRetriesPerRequest: null });
    this.owners = new Owners({ connection: this.redis, prefix: this.prefix });
  }

  async start(
    kinds: readonly Kind[],
    providers: Provider[] = [],
    options: Partial<MooringOptions> & { imports?: DynamicModule[] } = {},
  ): Promise<INestApplicationContext> {
    // Workloads refuse calls until the store is connected.
    await this.redis.ping();
    const listeners = [(fact: Fact) => this.facts.push(fact)];
    const { imports = [], ...rest } = options;
    const root = { connection: this.redis, prefix: this.prefix, listeners, ...rest };
    @Module({ imports: [MooringModule.forRoot(root), MooringModule.forKinds(kinds), ...imports], providers })
    class App {}
    const context = await NestFactory.createApplicationContext(App as Type, {
      logger: false,
      abortOnError: false,
    });
    this.contexts.push(context);
    return context;
  }

  /** Starts an application that also runs the jobs of the kinds, with locks and a shutdown that suit tests. */
  startWorker(
    kinds: readonly Kind[],
    handlers: Provider[],
    { worker, ...options }: Partial<MooringOptions> = {},
  ): Promise<INestApplicationContext> {
    const limits = { lockDuration: 2_000, shutdownTimeout: 2_000, ...worker };
    return this.start(kinds, [...handlers, ...processorsOf(kinds)], { ...options, worker: limits });
  }

  /** The events of a job, in order. */
  factsOf(jobId: string): string[] {
    return this.facts.filter((fact) => 'jobId' in fact && fact.jobId === jobId).map(({ event }) => event);
  }

  /** Waits until only permanent keys are left. */
  untilNothingIsLeft(): Promise<void> {
    return untilNothingIsLeft(this.storeUrl, this.prefix);
  }

  async stop(): Promise<void> {
    await Promise.all(this.contexts.map((context) => context.close()));
    await this.owners.close();
    const keys = await this.redis.keys(`*${this.prefix}*`);
    if (keys.length > 0) await this.redis.del(keys);
    this.redis.disconnect();
  }
}

function processorsOf(kinds: readonly Kind[]): Type[] {
  return [...new Set(kinds.map(({ queue }) => queue))].map((queue) => {
    @Processor(queue)
    class QueueProcessor extends KindProcessor {}
    return QueueProcessor;
  });
}
