import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { Redis } from 'ioredis';
import { randomBytes } from 'node:crypto';
import { Scene } from './scene.js';
import { ShopModule } from './shop.module.js';

/** The night exercise of docs/operating.md: starts a shop whose deploy went wrong, and ends with it. */
const { REDIS_URL = '', PORT } = process.env;
const prefix = `exercise-${randomBytes(4).toString('hex')}`;
const redis = new Redis(REDIS_URL, { maxRetriesPerRequest: null });
await redis.ping();
const app = await NestFactory.create<NestFastifyApplication>(
  ShopModule.with(redis, prefix),
  new FastifyAdapter(),
  { logger: ['error', 'fatal'], abortOnError: false },
);
await app.listen(Number(PORT), '127.0.0.1');
console.log('A shop works all day …');
const scene = new Scene(app);
await scene.set();
const stop = scene.goOn();
console.log(`
It is night. Release 2 of the shop was deployed an hour ago, and jobs fail. The API is at ${await app.getUrl()}
Follow docs/operating.md, "A night exercise", in another terminal. Ctrl-C ends it.
`);

/** Resolves when it is told to end, and everything of it is gone. */
export const ended = new Promise<void>((resolve) => {
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => {
      stop();
      void end().then(resolve);
    });
});

async function end(): Promise<void> {
  await app.close();
  for await (const keys of redis.scanStream({ match: `*${prefix}*`, count: 1_000 }))
    if ((keys as string[]).length > 0) await redis.unlink(...(keys as string[]));
  await redis.quit();
}
