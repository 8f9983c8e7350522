import 'reflect-metadata';
import { owner } from '#core';
import { MooringHttpModule } from '#http';
import { defineKind, MooringModule, type Kind } from '#nestjs';
import '#nestjs/register';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import type { Redis } from 'ioredis';
import { z } from 'zod';

export const PREFIX = '{bench}';
const payload = z.looseObject({});
const URGENCIES = ['urgent', 'normal', 'background'] as const;

/** Its jobs wait, with every priority that a job of a kind may have. */
export const ORDERS = 'orders';
/** Its jobs wait or are delayed. */
export const MAIL = 'mail';
/** Its jobs wait without a priority, as those of plain producers do. */
export const PLAIN = 'plain';
/** Its jobs have ended. */
export const ENDED = 'ended';
/** Its jobs run. */
export const BUSY = 'busy';

export const KINDS: readonly Kind[] = [ORDERS, MAIL, PLAIN, ENDED, BUSY].flatMap((queue) =>
  URGENCIES.map((urgency) =>
    defineKind({
      name: `${queue}.${urgency}`,
      queue,
      payload,
      class: urgency,
      owners: () => [owner('trip', '1')],
    }),
  ),
);

@Module({})
class BenchModule {}

/** An application with the routes of Mooring and no workers. */
export async function startApi(redis: Redis): Promise<NestFastifyApplication> {
  await redis.ping();
  const imports = [
    MooringModule.forRoot({ connection: redis, prefix: PREFIX, listeners: [] }),
    MooringModule.forKinds(KINDS),
    MooringHttpModule.register({ guard: false }),
  ];
  return NestFactory.create<NestFastifyApplication>({ module: BenchModule, imports }, new FastifyAdapter(), {
    logger: ['error', 'warn'],
  });
}
