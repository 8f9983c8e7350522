import 'reflect-metadata';
import './register.js';
import { Slots } from '#core';
import { Processor } from '@nestjs/bullmq';
import { Injectable } from '@nestjs/common';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { KindApp } from '../../../test/support/kind-app.js';
import { until } from '../../../test/support/until.js';
import { defineKind, Enqueuer, Handler, Handles, KindProcessor, MooringModule } from './index.js';
import { QueueRegistry } from './enqueue/queue-registry.js';

const HOUR = { max: 1, duration: 3_600_000 };

const letter = defineKind({
  name: 'post.letter',
  queue: 'post',
  payload: z.object({ to: z.string() }),
  owners: ({ to }) => [`user:${to}`],
  dedup: { strategy: 'none', longestWait: '100ms' },
});
const card = defineKind({ ...letter, name: 'post.card', fair: { weights: { 'user:a': 2 } } } as never);
const parcel = defineKind({ ...letter, name: 'post.parcel', fair: false } as never);
const call = defineKind({
  name: 'post.call',
  queue: 'post',
  payload: z.object({ to: z.string() }),
  owners: ({ to }) => [`user:${to}`],
  slot: () => ({ key: 'partner', limit: 5, rate: { max: 1, per: '1h' } }),
});
const ran: string[] = [];

@Handles(letter)
@Injectable()
class LetterHandler extends Handler<typeof letter> {
  async handle({ to }: { to: string }): Promise<void> {
    ran.push(to);
  }
}

@Handles(call)
@Injectable()
class CallHandler extends Handler<typeof call> {
  async handle({ to }: { to: string }): Promise<void> {
    ran.push(to);
  }
}

@Processor('post')
class PostProcessor extends KindProcessor {}

@Processor('post', { limiter: { max: 3, duration: 3_600_000 } })
class LimitedProcessor extends KindProcessor {}

describe('limits of an application', () => {
  let app: KindApp;

  beforeEach(() => {
    app = new KindApp();
    ran.length = 0;
  });

  afterEach(() => app.stop());

  it.each([
    ['forRoot', [LetterHandler, PostProcessor], { limiter: HOUR }, undefined, 1],
    ['forQueue', [LetterHandler, PostProcessor], {}, HOUR, 1],
    ['@Processor, which wins', [LetterHandler, LimitedProcessor], { limiter: HOUR }, HOUR, 3],
  ] as const)("have BullMQ's limiter of %s", async (_, providers, worker, limiter, most) => {
    const ofQueue = limiter ? [MooringModule.forQueue('post', { limiter })] : [];
    const context = await app.start([letter], [...providers], { worker, imports: ofQueue });
    const enqueuer = context.get(Enqueuer);
    for (const to of ['a', 'b', 'c', 'd', 'e']) await enqueuer.enqueue(letter, { to });
    const queue = context.get(QueueRegistry).get('post');

    await until(async () => (await queue.getRateLimitTtl(most)) > 0, 'the limit is reached');

    await until(async () => (await queue.getActiveCount()) === 0, 'they have ended');
    expect(ran).toHaveLength(most);
  });

  it('have fair turns of a queue, unless a kind says otherwise', async () => {
    const imports = [MooringModule.forQueue('post', { fair: true })];
    const context = await app.start([letter, card, parcel], [], { imports });
    const enqueuer = context.get(Enqueuer);
    const queue = context.get(QueueRegistry).get('post');
    const fairOf = async (kind: typeof letter): Promise<unknown> => {
      const { id } = await enqueuer.enqueue(kind, { to: 'a' });
      return (await queue.getJob(id))!.opts.fair;
    };

    expect(await fairOf(letter)).toEqual({ weight: 1, by: '' });
    expect(await fairOf(card as typeof letter)).toEqual({ weight: 2, by: '' });
    expect(await fairOf(parcel as typeof letter)).toBeUndefined();
  });

  it('have the rate of a slot that a kind names', async () => {
    const context = await app.startWorker([call], [CallHandler]);
    const enqueuer = context.get(Enqueuer);
    for (const to of ['a', 'b']) await enqueuer.enqueue(call, { to });
    const slots = context.get(Slots);

    await until(() => ran.length > 0, 'the first runs');
    await until(async () => (await slots.get('partner'))?.waiting === 1, 'the second waits for a token');

    expect(ran).toEqual(['a']);
    expect(app.facts.map(({ event }) => event)).not.toContain('job.failed');
  });

  it('bound the wait of a coalesced job from its first trigger on, also if a caller names the strategy', async () => {
    const context = await app.startWorker([letter], [LetterHandler]);
    const dedup = { strategy: 'coalesce' } as const;

    await context.get(Enqueuer).enqueue(letter, { to: 'a' }, { dedup, delay: '1h' });

    await until(() => ran.length === 1, 'it runs long before its delay is over');
  });

  it.each([
    ['a longest wait', { dedup: { strategy: 'coalesce', longestWait: 'soon' } }, 'dedup.longestWait'],
    ['a weight', { fair: { weights: { user: -1 } } }, 'The weight of user'],
  ])('are refused with the kind if %s is wrong', (_, wrong, text) => {
    expect(() => defineKind({ ...letter, ...wrong } as never)).toThrow(text);
  });
});
