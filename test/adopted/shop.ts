import { registerMooredClasses } from '#nestjs/register';
import { Owners } from '#core';
import type { DynamicModule, INestApplicationContext, Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Queue, type ConnectionOptions, type WorkerOptions, Worker, type Processor } from 'bullmq';
import { Redis } from 'ioredis';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { TestStore } from '../support/store.js';
import { root } from '../support/process.js';
import { until } from '../support/until.js';
import { Ledger } from './ledger.js';
import { MooredShopModule } from './moored-shop.module.js';
import { registerPlainClasses } from './plain-classes.js';
import { ShopModule } from './shop.module.js';
import { Uploads } from './uploads.service.js';

interface Closable {
  close(): Promise<unknown>;
}

/**
 * The application, the programs next to it, and a store of their own: their keys begin with `bull`, BullMQ's default.
 */
export class Shop {
  readonly owners: Owners;
  private readonly open: Closable[] = [];
  private app: INestApplicationContext | undefined;

  private constructor(private readonly store: TestStore) {
    this.owners = this.keep(new Owners({ connection: this.connection }));
  }

  static async open(): Promise<Shop> {
    return new Shop(await TestStore.start());
  }

  get connection(): ConnectionOptions {
    return { url: this.store.url };
  }

  /** The application before the change. */
  startPlain(): Promise<void> {
    registerPlainClasses();
    return this.start(ShopModule.at(this.store.url));
  }

  /** The same application with `@mooring/nestjs`: one import first, and its module. */
  startMoored(): Promise<void> {
    registerMooredClasses();
    return this.start(MooredShopModule.at(this.store.url));
  }

  private async start(module: DynamicModule): Promise<void> {
    const options = { logger: false, abortOnError: false } as const;
    this.app = await NestFactory.createApplicationContext(module, options);
  }

  async stopApp(): Promise<void> {
    await this.app?.close();
    this.app = undefined;
  }

  part<T>(type: Type<T>): T {
    return this.app!.get(type);
  }

  get ledger(): Ledger {
    return this.part(Ledger);
  }

  get uploads(): Uploads {
    return this.part(Uploads);
  }

  /** A separate process that uses only BullMQ adds jobs of every kind. Returns them as queue:id. */
  async addByPlainProducer(waiting: number): Promise<string[]> {
    const args = [join(root, 'test/adopted/plain-producer.mjs'), this.store.url, String(waiting)];
    const { stdout } = await promisify(execFile)(process.execPath, args);
    return JSON.parse(stdout) as string[];
  }

  /** BullMQ's own queue, as in a program without owners. */
  plainQueue(name: string): Queue {
    return this.keep(new Queue(name, { connection: this.connection }));
  }

  plainWorker(name: string, processor: Processor, options: Partial<WorkerOptions> = {}): Worker {
    return this.keep(new Worker(name, processor, { ...options, connection: this.connection }));
  }

  keep<T extends Closable>(closable: T): T {
    this.open.push(closable);
    return closable;
  }

  /** Owners that still have jobs. */
  async ownersWithJobs(): Promise<string[]> {
    const { owners } = await this.owners.list({ limit: 1_000 });
    return owners.filter(({ count }) => count > 0).map(({ owner }) => owner);
  }

  async nothingWaits(...queues: string[]): Promise<void> {
    for (const name of queues) {
      const queue = this.plainQueue(name);
      await until(async () => {
        const counts = await queue.getJobCounts('waiting', 'prioritized', 'active', 'waiting-children');
        return Object.values(counts).every((count) => count === 0);
      }, `nothing waits in ${name}`);
    }
  }

  async keys(pattern: string): Promise<string[]> {
    const redis = new Redis(this.store.url);
    return redis.keys(pattern).finally(() => redis.disconnect());
  }

  async close(): Promise<void> {
    await this.stopApp();
    for (const closable of this.open.toReversed()) await closable.close();
    await this.store.stop();
  }
}
