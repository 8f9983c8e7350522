import { owner } from '#core';
import {
  defineKind,
  Enqueuer,
  Handler,
  Handles,
  JobReader,
  OwnerResolver,
  ResolvesOwners,
  type JobView,
  type Kind,
  type KindOptions,
} from '#nestjs';
import type { INestApplicationContext } from '@nestjs/common';
import { Queue } from 'bullmq';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { KindApp } from '../support/kind-app.js';
import { until } from '../support/until.js';

type Resolve = (ids: string[]) => unknown;

/** A kind may have its owners checked when a job starts. */
describe('an owner that is checked at the start', () => {
  let app: KindApp;
  let context: INestApplicationContext;
  let queue: Queue;
  let ran: string[];
  beforeEach(() => {
    ran = [];
    app = new KindApp();
    queue = new Queue('things', { connection: app.redis, prefix: app.prefix });
  });
  afterEach(async () => {
    await app.untilNothingIsLeft();
    await queue.close();
    await app.stop();
  });

  it('is alive: its job runs', async () => {
    const kind = await start({}, alive);
    const id = await enqueue(kind);
    expect(await ended(id)).toMatchObject({ state: 'completed', result: 'ran' });
  });

  it('is gone: its job is skipped with the reason and does not run', async () => {
    const kind = await start({ attempts: 3 }, (ids) => new Map(ids.map((id) => [id, 'gone'])));
    const id = await enqueue(kind);
    expect(await ended(id)).toMatchObject({
      state: 'skipped',
      error: 'its owner is gone',
      attempts: 0,
      result: null,
    });
    expect(ran).toEqual([]);
    expect(app.factsOf(id)).toEqual(['job.accepted', 'job.skipped']);
  });

  const SILENT: [string, Resolve][] = [
    ['is not known', (ids) => new Map(ids.map((id) => [id, 'unknown']))],
    ['is left out of the answer', () => new Map()],
    ['gets an invalid answer', (ids) => new Map(ids.map((id) => [id, 'Gone']))],
    ['gets an answer that is not a map', () => ({ 42: 'gone' })],
    ['gets no answer at all', () => undefined],
    [
      'is asked of a resolver that fails',
      () => {
        throw new Error('The database is away.');
      },
    ],
    ['is asked of a resolver that rejects', () => Promise.reject(new Error('The database is away.'))],
    ['is asked of a resolver that never answers', () => new Promise(() => undefined)],
  ];

  it.each(SILENT)('%s: its job runs if the kind says so', async (_, resolve) => {
    const kind = await start({ onUnknownOwner: 'run' }, resolve);
    expect(await ended(await enqueue(kind))).toMatchObject({ state: 'completed', attempts: 1 });
  });

  it.each(SILENT)('%s: its job waits if the kind says so, and no attempt counts', async (_, resolve) => {
    const kind = await start({ onUnknownOwner: 'wait' }, resolve);
    const id = await enqueue(kind);
    await until(() => app.factsOf(id).includes('job.put-off'), 'it was put off');
    expect(await view(id)).toMatchObject({ state: 'delayed', attempts: 0 });
    expect(ran).toEqual([]);
    await app.owners.cancel('trip:42');
  });

  it('is gone and one of several: the job is skipped', async () => {
    const kind = await start({}, (ids) => new Map(ids.map((id) => [id, id === '7' ? 'gone' : 'alive'])));
    const id = await enqueue(kind, ['1', '7', '9']);
    expect(await ended(id)).toMatchObject({ state: 'skipped', owners: ['trip:1', 'trip:7', 'trip:9'] });
  });

  it('is checked together with the owners of other jobs that start', async () => {
    const asked: number[] = [];
    const kind = await start({}, (ids) => {
      asked.push(ids.length);
      return alive(ids);
    });
    await queue.pause();
    const ids = await Promise.all(Array.from({ length: 100 }, (_, i) => enqueue(kind, [String(i)])));
    await queue.resume();
    await Promise.all(ids.map(ended));
    expect(ran).toHaveLength(100);
    expect(asked.reduce((sum, each) => sum + each, 0)).toBe(100);
    expect(asked.length).toBeLessThan(10);
  });

  it('is checked once when many of its jobs start', async () => {
    const asked: string[][] = [];
    const kind = await start({}, (ids) => {
      asked.push(ids);
      return alive(ids);
    });
    await queue.pause();
    const ids = await Promise.all(Array.from({ length: 50 }, () => enqueue(kind)));
    await queue.resume();
    await Promise.all(ids.map(ended));
    expect(asked.length).toBeLessThan(10);
    expect(new Set(asked.flat())).toEqual(new Set(['42']));
  });

  async function start(options: Partial<KindOptions<z.ZodType>>, resolve: Resolve): Promise<Kind> {
    const kind = defineKind({
      name: 'thing.do',
      queue: 'things',
      payload: z.object({}),
      checkOwner: 'start',
      ...options,
    });
    @ResolvesOwners('trip')
    class Trips extends OwnerResolver {
      async resolve(ids: string[]): Promise<never> {
        return (await resolve(ids)) as never;
      }
    }
    @Handles(kind)
    class Doer extends Handler {
      async handle(_: unknown, { id }: { id: string }): Promise<string> {
        ran.push(id);
        return 'ran';
      }
    }
    context = await app.startWorker([kind], [Trips, Doer], { worker: { concurrency: 100 } });
    return kind;
  }

  async function enqueue(kind: Kind, ids: readonly string[] = ['42']): Promise<string> {
    const owners = ids.map((id) => owner('trip', id));
    return (await context.get(Enqueuer).enqueue(kind, {}, { owners })).id;
  }

  function view(id: string): Promise<JobView | undefined> {
    return context.get(JobReader).read(id);
  }

  function ended(id: string): Promise<JobView> {
    return until(async () => {
      const job = await view(id);
      return job && ['completed', 'failed', 'skipped'].includes(job.state) && job;
    }, `${id} has ended`);
  }
});

function alive(ids: string[]): Map<string, string> {
  return new Map(ids.map((id) => [id, 'alive']));
}
