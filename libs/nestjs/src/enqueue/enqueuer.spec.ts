import 'reflect-metadata';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { KindApp } from '../../../../test/support/kind-app.js';
import { defineKind } from '../kinds/kind.js';
import { artifactsIdOf, jobIdFor, jobIdOfArtifacts, queueOfJobId } from '../kinds/job-ids.js';
import { KindRegistry } from '../kinds/kind-registry.js';
import { Schedules } from '../schedules/schedules.js';
import { slotKeyOfCallers } from './enqueue-options.js';
import { Enqueuer } from './enqueuer.js';
import { originOf } from './job-origin.js';
import { QueueRegistry } from './queue-registry.js';

const thumbnail = defineKind({
  name: 'media.thumbnail',
  queue: 'media',
  payload: z.object({ photoId: z.string() }),
  owners: ({ photoId }) => [`photo:${photoId}`],
  artifacts: true,
});
const step = defineKind({ name: 'media.step', queue: 'media', payload: z.any(), offered: false });
const code = (error: unknown): unknown => (error as { code?: unknown }).code;

describe('Enqueuer', () => {
  let app: KindApp;

  beforeEach(() => {
    app = new KindApp();
  });

  afterEach(() => app.stop());

  it('generates ids that name their queue, and records the caller', async () => {
    const context = await app.start([thumbnail]);

    const origin = { requestId: 'r-1', caller: 'shop' };
    const { id } = await context.get(Enqueuer).enqueue(thumbnail, { photoId: '1' }, { origin });

    const job = await context.get(QueueRegistry).get(queueOfJobId(id)!).getJob(id);
    expect(originOf(job!)).toEqual(origin);
    expect(id).toMatch(/^media-[0-9A-Za-z]{20}$/);
  });

  it('returns one result for each of many items, in order', async () => {
    const enqueuer = (await app.start([thumbnail, step], [])).get(Enqueuer);
    const dedup = { strategy: 'skip' } as const;

    const results = await enqueuer.enqueueAll([
      { kind: thumbnail, payload: { photoId: '1' }, options: { dedup } },
      { kind: thumbnail, payload: { photoId: 1 } },
      { kind: step, payload: {}, options: { owners: ['nonsense'] } },
      { kind: step, payload: {}, options: { owners: ['trip:1'], slot: { key: 'a\nb', limit: 1 } } },
      { kind: thumbnail, payload: { photoId: '1' }, options: { dedup } },
    ]);

    expect(
      results.map((each) => (each.status === 'fulfilled' ? each.value.outcome : code(each.reason))),
    ).toEqual(['created', 'INVALID', 'INVALID', 'INVALID', 'skipped']);
  });

  it('gives a repeated request the same answer in any process, and refuses a different request with its key', async () => {
    const [one, other] = [await app.start([thumbnail]), await app.start([thumbnail])].map((each) =>
      each.get(Enqueuer),
    );
    const ask = (enqueuer = one!, photoId = '1', requestId = 'r') =>
      enqueuer.enqueue(thumbnail, { photoId }, { idempotencyKey: 'k', origin: { requestId } });

    const tickets = await Promise.all([ask(), ask(other), ask(one, '1', 's'), ask(other)]);

    expect(tickets).toEqual(tickets.map(() => tickets[0]));
    expect(code(await ask(one, '2').catch((error: unknown) => error))).toBe('IDEMPOTENCY_CONFLICT');
  });

  it('accepts as many waiting jobs as the limit allows, and says when to try again', async () => {
    const context = await app.start([thumbnail], [], { maxWaiting: 50, maxWaitingIn: { media: 3 } });
    const enqueuer = context.get(Enqueuer);

    const results = await enqueuer.enqueueAll(
      Array.from({ length: 10 }, (_, i) => ({ kind: thumbnail, payload: { photoId: `${i}` } })),
    );

    const refused = results
      .filter((each) => each.status === 'rejected')
      .map(({ reason }) => reason as unknown);
    expect(refused).toHaveLength(7);
    expect(refused[0]).toMatchObject({ code: 'QUEUE_FULL', retryAfterMs: 1_000 });
    await expect(enqueuer.checkRoom(thumbnail)).rejects.toMatchObject({ code: 'QUEUE_FULL' });
  });

  it('names the slot with another limit as its caller does', async () => {
    const context = await app.start([step]);
    const ask = (limit: number) =>
      context
        .get(Enqueuer)
        .enqueue(step, {}, { owners: ['trip:1'], slot: { key: slotKeyOfCallers('press'), limit } });
    await ask(1);

    await expect(ask(2)).rejects.toThrow('The slot "press" has the limit 1,');
    const put = {
      owners: ['trip:1'],
      every: '1h',
      slot: { key: slotKeyOfCallers('press'), limit: 2 },
    } as const;
    await expect(context.get(Schedules).put('nightly', step, put)).rejects.toMatchObject({ key: 'press' });
  });

  it('reports whether a job is durable if asked to', async () => {
    const isHeld = { value: true };
    const durability = {
      hold: async <T>(write: () => Promise<T>) => ({ value: await write(), isHeld: isHeld.value }),
    };
    const enqueuer = (await app.start([thumbnail], [], { durability })).get(Enqueuer);

    expect(await enqueuer.enqueue(thumbnail, { photoId: '1' })).toMatchObject({ durable: true });
    isHeld.value = false;
    expect(await enqueuer.enqueue(thumbnail, { photoId: '1' })).toMatchObject({
      outcome: 'created',
      durable: false,
    });
  });

  it('suggests the intended kind among the offered ones', async () => {
    const kinds = (await app.start([thumbnail, step])).get(KindRegistry);

    expect(() => kinds.offered('media.thumbnial')).toThrow('Did you mean media.thumbnail?');
    expect(() => kinds.offered('media.step')).toThrow('No kind is named "media.step".');
    expect(kinds.offered('media.thumbnail')).toBe(thumbnail);
  });

  it('accepts ids of the caller that name the queue if jobs have artifacts', async () => {
    const enqueuer = (await app.start([thumbnail, step])).get(Enqueuer);
    const jobId = jobIdFor('media', 'upload 7');

    const first = await enqueuer.enqueue(thumbnail, { photoId: '1' }, { jobId });
    const again = await enqueuer.enqueue(thumbnail, { photoId: '1' }, { jobId });
    const own = await enqueuer.enqueue(step, {}, { owners: ['a:1'], jobId: 'own' });

    expect([first.id, again, own.id]).toEqual([jobId, first, 'own']);
    const refused = enqueuer.enqueue(thumbnail, { photoId: '1' }, { jobId: 'own' });
    await expect(refused).rejects.toMatchObject({ code: 'INVALID' });
  });
});

describe('the id of a job', () => {
  it('names its queue, also for a turn of a schedule, and converts to the id of its artifacts and back', () => {
    const id = jobIdFor('a-queue', 'nightly');
    const turn = `repeat:${id}:1700000000000`;

    expect([id, turn, 'own', 'meta', 'a:b', ''].map(queueOfJobId)).toEqual([
      'a-queue',
      'a-queue',
      ...Array<undefined>(4),
    ]);
    expect(artifactsIdOf(turn)).toMatch(/^[A-Za-z0-9_-]+$/);
    expect([id, turn].map((each) => jobIdOfArtifacts(artifactsIdOf(each)))).toEqual([id, turn]);
  });
});
