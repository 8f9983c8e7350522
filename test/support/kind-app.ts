import { Owners } from '#core';
import { MooringModule, type Kind, type MooringOptions } from '#nestjs';
import '#nestjs/register';
import { Module, type INestApplicationContext, type Provider, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import { inject } from 'vitest';

/** An application of kinds under a prefix of its own. Without processors it only enqueues. */
export class KindApp {
  readonly prefix = `test-kinds-${randomBytes(4).toString('hex')}`;
  readonly redis = new Redis(inject('storeUrl'), { maxRetriesPerRequest: null });
  readonly owners = new Owners({ connection: this.redis, prefix: this.prefix });
  private readonly contexts: INestApplicationContext[] = [];

  async start(
    kinds: readonly Kind[],
    providers: Provider[] = [],
    options: Partial<MooringOptions> = {},
  ): Promise<INestApplicationContext> {
    const root = { connection: this.redis, prefix: this.prefix, ...options };
    @Module({ imports: [MooringModule.forRoot(root), MooringModule.forKinds(kinds)], providers })
    class App {}
    const context = await NestFactory.createApplicationContext(App as Type, {
      logger: false,
      abortOnError: false,
    });
    this.contexts.push(context);
    return context;
  }

  async stop(): Promise<void> {
    await Promise.all(this.contexts.map((context) => context.close()));
    await this.owners.close();
    const keys = await this.redis.keys(`${this.prefix}*`);
    if (keys.length > 0) await this.redis.del(keys);
    this.redis.disconnect();
  }
}
