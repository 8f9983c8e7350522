import 'reflect-metadata';
import { LifecycleModule, type Fact, type Kind, type LifecycleOptions } from '#lifecycle';
import type { INestApplicationContext, Provider } from '@nestjs/common';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Redis } from 'ioredis';
import { randomBytes } from 'node:crypto';
import { inject } from 'vitest';
import { untilNothingIsLeft } from './leftovers.js';

@Module({})
class AppModule {}

/** A plain application with the library in it, in this process, with kinds of a test's own. */
export class LifecycleApp {
  private constructor(
    readonly context: INestApplicationContext,
    readonly redis: Redis,
    readonly prefix: string,
    readonly storeUrl: string,
    readonly facts: Fact[],
  ) {}

  static async start(
    kinds: readonly Kind[],
    providers: Provider[],
    worker: LifecycleOptions['worker'] = {},
    storeUrl = inject('storeUrl'),
    prefix = `test-${randomBytes(6).toString('hex')}`,
    more: Partial<LifecycleOptions> = {},
  ): Promise<LifecycleApp> {
    const redis = new Redis(storeUrl, { maxRetriesPerRequest: null });
    // One that is not there in time is a refusal that a test of the start does not mean.
    await redis.ping();
    const facts: Fact[] = [];
    const options: LifecycleOptions = {
      redis,
      prefix,
      worker: { lockMs: 2_000, drainMs: 2_000, ...worker },
      listeners: [(fact) => facts.push(fact)],
      ...more,
    };
    try {
      const context = await NestFactory.createApplicationContext(
        {
          module: AppModule,
          imports: [
            LifecycleModule.forRootAsync({ useFactory: () => options }),
            LifecycleModule.forKinds(kinds),
          ],
          providers,
        },
        { logger: false, abortOnError: false },
      );
      return new LifecycleApp(context, redis, prefix, storeUrl, facts);
    } catch (error) {
      await redis.quit();
      throw error;
    }
  }

  /** What was said of one job, in order. */
  factsOf(jobId: string): string[] {
    return this.facts.filter((fact) => 'jobId' in fact && fact.jobId === jobId).map(({ event }) => event);
  }

  /** Ends it, and sees that it has left nothing but what may stay. */
  async stop(): Promise<void> {
    try {
      await untilNothingIsLeft(this.storeUrl, this.prefix);
    } finally {
      await this.context.close();
      for await (const keys of this.redis.scanStream({ match: `*${this.prefix}*`, count: 1_000 })) {
        if (keys.length > 0) await this.redis.unlink(...(keys as string[]));
      }
      await this.redis.quit();
    }
  }
}
