import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { Redis } from 'ioredis';
import { randomBytes } from 'node:crypto';
import { inject } from 'vitest';
import { ShopModule } from '../../apps/exercise/src/shop.module.js';

/** The shop of the night exercise in this process: an api, workers and sweeps that start at once. */
export class ShopApp {
  private constructor(
    private readonly app: NestFastifyApplication,
    private readonly redis: Redis,
    private readonly prefix: string,
    readonly url: string,
  ) {}

  static async start(): Promise<ShopApp> {
    const prefix = `test-${randomBytes(6).toString('hex')}`;
    const redis = new Redis(inject('storeUrl'), { maxRetriesPerRequest: null });
    await redis.ping();
    const module = ShopModule.with(redis, prefix);
    const options = { logger: false, abortOnError: false } as const;
    const app = await NestFactory.create<NestFastifyApplication>(module, new FastifyAdapter(), options);
    await app.listen(0, '127.0.0.1');
    return new ShopApp(app, redis, prefix, await app.getUrl());
  }

  async stop(): Promise<void> {
    await this.app.close();
    for await (const keys of this.redis.scanStream({ match: `*${this.prefix}*`, count: 1_000 }))
      if ((keys as string[]).length > 0) await this.redis.unlink(...(keys as string[]));
    await this.redis.quit();
  }

  async call(method: string, path: string, body?: object): Promise<Record<string, unknown>> {
    const headers = { 'content-type': 'application/json' };
    const init = body ? { method, headers, body: JSON.stringify(body) } : { method };
    return (await (await fetch(`${this.url}${path}`, init)).json()) as Record<string, unknown>;
  }

  /** Enqueues receipts; returns their ids. */
  async enqueue(owner: string, more: object = {}, count = 1, delay?: string): Promise<string[]> {
    const job = { kind: 'shop.receipt', owners: [owner], payload: anOrder(more), ...(delay && { delay }) };
    const { results } = await this.call('POST', '/v1/jobs/batch', {
      jobs: Array.from({ length: count }, () => job),
    });
    return (results as { id: string }[]).map(({ id }) => id);
  }
}

export function anOrder(more: object = {}): object {
  return { order: 1, customer: 7, price: 990, currency: 'EUR', ...more };
}
