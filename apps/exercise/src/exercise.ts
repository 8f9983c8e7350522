import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { Redis } from 'ioredis';
import { randomBytes } from 'node:crypto';
import { Scene } from './scene.js';
import { ShopModule } from './shop.module.js';

/** The night exercise of docs/operating.md: a shop whose deploy went wrong, with its API. */
export class Exercise {
  private endOrders = (): void => {};

  private constructor(
    private readonly app: NestFastifyApplication,
    private readonly redis: Redis,
    private readonly prefix: string,
    readonly url: string,
  ) {}

  static async start(redisUrl: string, port: number): Promise<Exercise> {
    const prefix = `exercise-${randomBytes(4).toString('hex')}`;
    const redis = new Redis(redisUrl, { maxRetriesPerRequest: null });
    await redis.ping();
    const app = await NestFactory.create<NestFastifyApplication>(
      ShopModule.with(redis, prefix),
      new FastifyAdapter(),
      { logger: ['error', 'fatal'], abortOnError: false },
    );
    await app.listen(port, '127.0.0.1');
    return new Exercise(app, redis, prefix, await app.getUrl());
  }

  /** Resolves when the jobs of the bad release have failed. From then on customers order until the end. */
  async setScene(): Promise<void> {
    const scene = new Scene(this.app);
    await scene.set();
    this.endOrders = scene.goOn();
  }

  /** Leaves nothing in the store. */
  async end(): Promise<void> {
    this.endOrders();
    await this.app.close();
    for await (const keys of this.redis.scanStream({ match: `*${this.prefix}*`, count: 1_000 }))
      if ((keys as string[]).length > 0) await this.redis.unlink(...(keys as string[]));
    await this.redis.quit();
  }
}
