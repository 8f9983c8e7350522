import 'reflect-metadata';
import { Canceller, Enqueuer, JobArtifacts, JobReader, LifecycleModule, type JobView } from '#lifecycle';
import { Module, type INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Redis } from 'ioredis';
import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, inject, it, vi } from 'vitest';
import { SiteCare } from './sites.care.js';
import { siteOwner } from './sites.kinds.js';
import { ShownBuilds } from './shown.builds.js';
import { SitesApiModule } from './sites.api.module.js';
import { SitesRelay } from './sites.relay.js';
import { SitesRepository } from './sites.repository.js';
import { SitesService } from './sites.service.js';

@Module({})
class AppModule {}

describe('who cares for sites', () => {
  let redis: Redis;
  let prefix: string;
  let context: INestApplicationContext;
  let care: SiteCare;
  let sites: SitesService;
  let repository: SitesRepository;
  let canceller: Canceller;
  /** Nothing is left in it, and it can be away. */
  const artifacts = { list: vi.fn(async () => []), open: vi.fn(async () => undefined), removeAll: vi.fn() };

  beforeEach(async () => {
    prefix = `test-${randomBytes(6).toString('hex')}`;
    redis = new Redis(inject('storeUrl'), { maxRetriesPerRequest: null });
    await redis.ping();
    artifacts.removeAll.mockReset().mockResolvedValue(0);
    // Nobody cares beside us.
    vi.spyOn(SitesRelay.prototype, 'onApplicationBootstrap').mockImplementation(() => undefined);
    const lifecycle = LifecycleModule.forRootAsync({
      useFactory: () => ({ redis, prefix, artifacts: artifacts as unknown as JobArtifacts }),
    });
    const imports = [lifecycle, SitesApiModule.with({ demo: false })];
    context = await NestFactory.createApplicationContext({ module: AppModule, imports }, { logger: false });
    [care, sites] = [context.get(SiteCare, ANYWHERE), context.get(SitesService, ANYWHERE)];
    [repository, canceller] = [context.get(SitesRepository, ANYWHERE), context.get(Canceller, ANYWHERE)];
  });
  afterEach(async () => {
    vi.restoreAllMocks();
    await context.close();
    for await (const page of redis.scanStream({ match: `*${prefix}*`, count: 1_000 }))
      if ((page as string[]).length > 0) await redis.unlink(...(page as string[]));
    await redis.quit();
  });

  async function create(): Promise<string> {
    return (await sites.create({ name: 'Harbour', url: () => 'http://harbour.example', paceMs: 0 })).id;
  }

  const post = { type: 'post', id: '1', content: {} };

  /** The builds that are to be run, and what the site still has to show. */
  async function standing(siteId: string): Promise<object> {
    const { builds } = await sites.view(siteId);
    const { unshown } = await repository.standing(siteId);
    return { unshown, builds: builds.map(({ state }) => state) };
  }

  it('asks for a build when nobody has, and once', async () => {
    const siteId = await create();
    await repository.change(siteId, post, true);
    expect(await standing(siteId)).toEqual({ unshown: 1, builds: [] });
    await care.tend(siteId);
    await care.tend(siteId);
    expect(await standing(siteId)).toEqual({ unshown: 1, builds: ['waiting'] });
  });

  it.each(['waiting', 'delayed', 'running', 'retrying'] as const)(
    'asks for no other while the one that answers for it is %s; for what it does not answer for it does',
    async (state) => {
      const siteId = await create();
      await sites.change(siteId, post);
      const jobs = context.get(JobReader, ANYWHERE);
      vi.spyOn(jobs, 'read').mockResolvedValue({ state } as JobView);
      const enqueue = vi.spyOn(context.get(Enqueuer, ANYWHERE), 'enqueue');
      await care.tend(siteId);
      expect(enqueue).not.toHaveBeenCalled();
      await repository.change(siteId, post, true);
      await care.tend(siteId);
      expect(enqueue).toHaveBeenCalledOnce();
    },
  );

  it('asks for no other when the one that answers for it ends while it looks', async () => {
    const siteId = await create();
    await sites.change(siteId, post);
    const [build] = (await sites.view(siteId)).builds;
    const enqueue = vi.spyOn(context.get(Enqueuer, ANYWHERE), 'enqueue');
    // It is over, but what readers get was not looked at yet.
    vi.spyOn(context.get(JobReader, ANYWHERE), 'read').mockResolvedValue({ state: 'completed' } as JobView);
    vi.spyOn(context.get(ShownBuilds, ANYWHERE), 'settle').mockImplementation(async () => {
      await repository.offer(siteId, build!.id, 1, '1');
      await repository.switchTo(siteId, build!.id);
    });
    await care.tend(siteId);
    expect(enqueue).not.toHaveBeenCalled();
  });

  it('asks for another when one is over that has not shown what it was asked for', async () => {
    const siteId = await create();
    await sites.change(siteId, post);
    const [build] = (await sites.view(siteId)).builds;
    await canceller.cancelJob(build!.id);
    await care.tend(siteId);
    await care.tend(siteId);
    expect(await standing(siteId)).toEqual({ unshown: 1, builds: ['waiting', 'removed'] });
  });

  it('leaves a site alone when all is shown, whatever became of the build', async () => {
    const siteId = await create();
    await sites.change(siteId, post);
    const [build] = (await sites.view(siteId)).builds;
    await repository.offer(siteId, build!.id, 1, '1');
    await repository.switchTo(siteId, build!.id);
    await canceller.cancelJob(build!.id);
    await care.tend(siteId);
    expect(await standing(siteId)).toEqual({ unshown: undefined, builds: ['removed'] });
  });

  it('takes no change while the owner is closed, and builds when it is open again', async () => {
    const siteId = await create();
    await sites.change(siteId, post);
    await canceller.cancel(siteOwner(siteId));
    for (const type of ['post', 'profile'])
      await expect(sites.change(siteId, { ...post, type })).rejects.toMatchObject({ code: 'OWNER_CLOSED' });
    await care.tend(siteId);
    expect(await standing(siteId)).toEqual({ unshown: 1, builds: ['removed'] });
    expect(await sites.view(siteId)).toMatchObject({ version: 1, entities: 1 });
    await canceller.reopen(siteOwner(siteId));
    await care.tend(siteId);
    expect(await standing(siteId)).toEqual({ unshown: 1, builds: ['waiting', 'removed'] });
  });

  it('tidies up after a deleted site when it can, and the caller hears nothing of it', async () => {
    const siteId = await create();
    await sites.change(siteId, post);
    artifacts.removeAll.mockRejectedValue(new Error('away'));
    await sites.delete(siteId, 'ada');
    const calls = [
      () => sites.view(siteId),
      () => sites.change(siteId, post),
      () => sites.delete(siteId, 'ada'),
    ];
    for (const call of calls) await expect(call()).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await expect(care.tend(siteId)).rejects.toThrow('away');
    expect(await keys(siteId)).not.toEqual([]);
    artifacts.removeAll.mockResolvedValue(0);
    await care.tend(siteId);
    expect(await keys(siteId)).toEqual([]);
  });

  describe('of builds that were shown', () => {
    /** So many were, each after the one before; answers them, the oldest first. */
    async function shown(siteId: string, many: number): Promise<string[]> {
      const jobs = Array.from({ length: many }, (_, i) => `sites.build-${i}`);
      for (const [i, job] of jobs.entries()) {
        await repository.offer(siteId, job, i + 1, String(i + 1));
        await repository.switchTo(siteId, job);
      }
      return jobs;
    }

    async function aged(siteId: string): Promise<void> {
      const [old] = await redis.keys(`${prefix}:{sites:*:${siteId}:old`);
      const jobs = await redis.zrange(old!, '0', '-1');
      await redis.zadd(old!, ...jobs.flatMap((job) => [1, job]));
    }

    const removed = (): unknown[] => artifacts.removeAll.mock.calls.map(([job]) => job as unknown);
    const isTended = async (siteId: string): Promise<boolean> => {
      const scores = (await redis.keys(`${prefix}:{sites:*:due`)).map((due) => redis.zscore(due, siteId));
      return (await Promise.all(scores)).some((score) => score !== null);
    };

    it('removes the pages of all but the last two, a while after, and then leaves the site alone', async () => {
      const siteId = await create();
      const jobs = await shown(siteId, 5);
      await care.tend(siteId);
      expect([removed(), await isTended(siteId)]).toEqual([[], true]);
      await aged(siteId);
      await care.tend(siteId);
      expect([removed(), await isTended(siteId)]).toEqual([jobs.slice(0, 3), false]);
    });

    it('tries again with what could not be removed, and asks for builds meanwhile', async () => {
      const siteId = await create();
      const [first] = await shown(siteId, 3);
      await aged(siteId);
      await repository.change(siteId, post, true);
      await redis.hset(
        (await keys(siteId)).find((key) => key.endsWith(siteId))!,
        'w',
        9,
      );
      artifacts.removeAll.mockRejectedValueOnce(new Error('away'));
      await expect(care.tend(siteId)).rejects.toThrow('away');
      expect((await sites.view(siteId)).builds.map(({ state }) => state)).toEqual(['waiting']);
      await care.tend(siteId);
      expect(removed()).toEqual([first, first]);
    });

    it('begins with no other when its process ends meanwhile', async () => {
      const siteId = await create();
      const [first] = await shown(siteId, 5);
      await aged(siteId);
      artifacts.removeAll.mockImplementationOnce(async () => care.onModuleDestroy());
      await care.tend(siteId);
      expect(removed()).toEqual([first]);
    });

    it('removes every one of them with its site, however many and however new', async () => {
      const siteId = await create();
      const jobs = await shown(siteId, 250);
      await sites.delete(siteId, 'ada');
      expect(new Set(removed())).toEqual(new Set(jobs));
      expect(await keys(siteId)).toEqual([]);
    });
  });

  it('cannot be kept from deleting a site by who has taken a cancelId', async () => {
    const siteId = await create();
    await sites.change(siteId, post);
    await canceller.cancel(siteOwner('another'), { cancelId: `site-${siteId}` });
    await sites.delete(siteId, 'ada');
    expect(await keys(siteId)).toEqual([]);
  });

  it('is one cancel, whoever comes to the end of it', async () => {
    const siteId = await create();
    const cancel = vi.spyOn(canceller, 'cancel');
    artifacts.removeAll.mockRejectedValue(new Error('away'));
    await repository.offer(siteId, 'sites.build-0', 1, '1');
    await sites.delete(siteId, 'ada');
    await expect(care.tend(siteId)).rejects.toThrow('away');
    const ids = cancel.mock.calls.map(([, about]) => about?.cancelId);
    expect(ids).toEqual([ids[0], ids[0]]);
    expect(ids[0]).toMatch(new RegExp(`^site-${siteId}-.{30,}$`));
  });

  it('goes on with the others when one site cannot be tended', async () => {
    vi.spyOn(repository, 'take').mockResolvedValueOnce(['a', 'b']).mockResolvedValue([]);
    const tend = vi.spyOn(care, 'tend').mockRejectedValue(new Error('told to'));
    await care.tendOnce();
    expect(tend.mock.calls).toEqual([['a'], ['b']]);
  });

  /** All of the site itself; what is left of its owner ends by itself. */
  function keys(siteId: string): Promise<string[]> {
    return redis.keys(`${prefix}:{sites:*:${siteId}*`);
  }
});

const ANYWHERE = { strict: false } as const;
