import { MooredQueue, type MooredWorkerOptions } from '#core';
import { getQueueToken } from '@nestjs/bullmq';
import { Inject, Injectable, Optional, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { Queue, type Worker } from 'bullmq';
import { queueOfJobId } from '../kinds/job-ids.js';
import { MOORING_OPTIONS, type ForQueueOptions, type MooringOptions } from '../options.js';
import { notMoored, otherPrefix, settledTwice, unknownQueue } from './refusals.js';
import { RegisteredQueue } from './registered-queue.js';
import { endApplication, startApplication, type WorkerSettings } from './starting-application.js';

const DEFAULT_PREFIX = 'bull';

/** What one call of `forQueue` said. */
export class QueueSettings {
  constructor(
    readonly name: string,
    readonly options: ForQueueOptions,
  ) {}
}

/**
 * The queues of this application: those of its kinds, and those that it has registered itself. These get the options of their `forQueue`.
 * What cannot be right is refused while the application starts.
 */
@Injectable()
export class ApplicationQueues implements OnModuleInit, OnApplicationShutdown, WorkerSettings {
  /** Set where there are kinds, for the workers of their queues. */
  ofKinds: WorkerSettings | undefined;
  private readonly optionsByName = new Map<string, ForQueueOptions>();
  private queues: ReadonlyMap<string, MooredQueue> | undefined;

  constructor(
    @Inject(DiscoveryService) private readonly discovery: DiscoveryService,
    @Optional() @Inject(MOORING_OPTIONS) private readonly root?: MooringOptions,
  ) {
    const tokens = new Set(this.discovery.getProviders().map(({ token }) => token));
    for (const { name, options } of this.settings()) {
      if (this.optionsByName.has(name)) throw settledTwice(name);
      if (!tokens.has(getQueueToken(name))) throw unknownQueue(name);
      this.optionsByName.set(name, options);
    }
    startApplication(this);
  }

  /** A queue that a test has put something else in the place of is left alone. */
  onModuleInit(): void {
    for (const queue of this.registered()) {
      if (!(queue instanceof MooredQueue)) throw notMoored(queue.name);
      const options = this.optionsByName.get(queue.name);
      if (options) this.configure(queue, options);
    }
  }

  onApplicationShutdown(): void {
    endApplication(this);
  }

  optionsOf(queue: string): Partial<MooredWorkerOptions> {
    return { ...this.ofKinds?.optionsOf(queue), ...this.optionsByName.get(queue) };
  }

  add(worker: Worker): void {
    this.ofKinds?.add(worker);
  }

  find(name: string): MooredQueue | undefined {
    return this.all().get(name);
  }

  ofJob(id: string): MooredQueue | undefined {
    return this.find(queueOfJobId(id) ?? '');
  }

  /** By name. The modules of an application are complete before its first caller is answered. */
  all(): ReadonlyMap<string, MooredQueue> {
    const moored = (): MooredQueue[] => this.registered().filter((queue) => queue instanceof MooredQueue);
    return (this.queues ??= new Map(moored().map((queue) => [queue.name, queue])));
  }

  /** Those whose jobs of plain producers get owners. */
  withOwnersOf(): RegisteredQueue[] {
    const queues = this.registered().filter(
      (queue) => queue instanceof RegisteredQueue && this.optionsByName.has(queue.name) && queue.hasOwnersOf,
    ) as RegisteredQueue[];
    return [...new Map(queues.map((queue) => [queue.qualifiedName, queue])).values()];
  }

  private configure(queue: MooredQueue, options: ForQueueOptions): void {
    if (!(queue instanceof RegisteredQueue)) throw notMoored(queue.name);
    const [prefix, rootPrefix] = [queue.opts.prefix ?? DEFAULT_PREFIX, this.root?.prefix ?? DEFAULT_PREFIX];
    if (this.root && prefix !== rootPrefix) throw otherPrefix(queue.name, prefix, rootPrefix);
    queue.configure(options);
  }

  private settings(): QueueSettings[] {
    return this.discovery
      .getProviders()
      .map(({ instance }) => instance as unknown)
      .filter((instance) => instance instanceof QueueSettings);
  }

  private registered(): Queue[] {
    return this.discovery
      .getProviders()
      .filter(({ instance, token }) => instance instanceof Queue && token === getQueueToken(instance.name))
      .map(({ instance }) => instance as Queue);
  }
}
