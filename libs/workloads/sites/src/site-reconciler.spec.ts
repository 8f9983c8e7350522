import 'reflect-metadata';
import '#nestjs/register';
import { Owners } from '#core';
import { Enqueuer, JobCanceller, JobReader, MooringModule, type ArtifactStore, type JobView } from '#nestjs';
import { ReconcileLoop, WorkloadStoreModule } from '#workload-kit';
import { Module, type INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Redis } from 'ioredis';
import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, inject, it, vi } from 'vitest';
import { SiteReconciler } from './site-reconciler.js';
import { siteOwner } from './site-kinds.js';
import { BuildPublisher } from './build-publisher.js';
import { sites as workload } from './index.js';
import { SiteRepository } from './site-repository.js';
import { SitesService } from './sites.service.js';

@Module({})
class AppModule {}

describe('the reconciler of sites', () => {
  let redis: Redis;
  let prefix: string;
  let context: INestApplicationContext;
  let reconciler: SiteReconciler;
  let sites: SitesService;
  let repository: SiteRepository;
  let owners: Owners;
  /** An artifact store that is empty and can be made to fail. */
  const artifacts = { list: vi.fn(async () => []), open: vi.fn(async () => undefined), removeAll: vi.fn() };

  beforeEach(async () => {
    prefix = `test-${randomBytes(6).toString('hex')}`;
    redis = new Redis(inject('storeUrl'), { maxRetriesPerRequest: null });
    await redis.ping();
    artifacts.removeAll.mockReset().mockResolvedValue(0);
    // No other reconciler may run.
    vi.spyOn(ReconcileLoop.prototype, 'onApplicationBootstrap').mockImplementation(() => undefined);
    const root = { connection: redis, prefix, artifacts: artifacts as unknown as ArtifactStore };
    const imports = [
      MooringModule.forRoot(root),
      WorkloadStoreModule.forRoot(redis, prefix),
      workload.moduleFor('api', {}),
    ];
    context = await NestFactory.createApplicationContext({ module: AppModule, imports }, { logger: false });
    [reconciler, sites] = [context.get(SiteReconciler, ANYWHERE), context.get(SitesService, ANYWHERE)];
    [repository, owners] = [context.get(SiteRepository, ANYWHERE), context.get(Owners, ANYWHERE)];
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

  /** The pending builds, and the version the site still has to show. */
  async function standing(siteId: string): Promise<object> {
    const { builds } = await sites.view(siteId);
    const { unshown } = await repository.standing(siteId);
    return { unshown, builds: builds.map(({ state }) => state) };
  }

  it('requests a missing build, once', async () => {
    const siteId = await create();
    await repository.change(siteId, post, true);
    expect(await standing(siteId)).toEqual({ unshown: 1, builds: [] });
    await reconciler.reconcile(siteId);
    await reconciler.reconcile(siteId);
    expect(await standing(siteId)).toEqual({ unshown: 1, builds: ['waiting'] });
  });

  it.each(['waiting', 'delayed', 'running', 'retrying'] as const)(
    'requests no other build while the one that covers the change is %s, and requests one for a later change',
    async (state) => {
      const siteId = await create();
      await sites.change(siteId, post);
      const jobs = context.get(JobReader, ANYWHERE);
      vi.spyOn(jobs, 'read').mockResolvedValue({ state } as JobView);
      const enqueue = vi.spyOn(context.get(Enqueuer, ANYWHERE), 'enqueue');
      await reconciler.reconcile(siteId);
      expect(enqueue).not.toHaveBeenCalled();
      await repository.change(siteId, post, true);
      await reconciler.reconcile(siteId);
      expect(enqueue).toHaveBeenCalledOnce();
    },
  );

  it('requests no other build when the one that covers the change ends during the check', async () => {
    const siteId = await create();
    await sites.change(siteId, post);
    const [build] = (await sites.view(siteId)).builds;
    const enqueue = vi.spyOn(context.get(Enqueuer, ANYWHERE), 'enqueue');
    // The build is over, but the reconciler has not read the current build yet.
    vi.spyOn(context.get(JobReader, ANYWHERE), 'read').mockResolvedValue({ state: 'completed' } as JobView);
    vi.spyOn(context.get(BuildPublisher, ANYWHERE), 'settle').mockImplementation(async () => {
      await repository.offer(siteId, build!.id);
      await repository.switchTo(siteId, build!.id, 1);
    });
    await reconciler.reconcile(siteId);
    expect(enqueue).not.toHaveBeenCalled();
  });

  it('requests another build when one is over without showing the requested version', async () => {
    const siteId = await create();
    await sites.change(siteId, post);
    const [build] = (await sites.view(siteId)).builds;
    await context.get(JobCanceller, ANYWHERE).cancel(build!.id);
    await reconciler.reconcile(siteId);
    await reconciler.reconcile(siteId);
    expect(await standing(siteId)).toEqual({ unshown: 1, builds: ['waiting', 'removed'] });
  });

  it('leaves a site alone when everything is shown, whatever the state of the build', async () => {
    const siteId = await create();
    await sites.change(siteId, post);
    const [build] = (await sites.view(siteId)).builds;
    await repository.offer(siteId, build!.id);
    await repository.switchTo(siteId, build!.id, 1);
    await context.get(JobCanceller, ANYWHERE).cancel(build!.id);
    await reconciler.reconcile(siteId);
    expect(await standing(siteId)).toEqual({ unshown: undefined, builds: ['removed'] });
  });

  it('accepts no change while the owner is closed, and builds when it is open again', async () => {
    const siteId = await create();
    await sites.change(siteId, post);
    await owners.cancel(siteOwner(siteId));
    for (const type of ['post', 'profile'])
      await expect(sites.change(siteId, { ...post, type })).rejects.toMatchObject({ code: 'OWNER_CLOSED' });
    await reconciler.reconcile(siteId);
    expect(await standing(siteId)).toEqual({ unshown: 1, builds: ['removed'] });
    expect(await sites.view(siteId)).toMatchObject({ version: 1, entities: 1 });
    await owners.reopen(siteOwner(siteId));
    await reconciler.reconcile(siteId);
    expect(await standing(siteId)).toEqual({ unshown: 1, builds: ['waiting', 'removed'] });
  });

  it('cleans up after a deleted site when it can, without an error for the caller', async () => {
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
    await expect(reconciler.reconcile(siteId)).rejects.toThrow('away');
    expect(await keys(siteId)).not.toEqual([]);
    artifacts.removeAll.mockResolvedValue(0);
    await reconciler.reconcile(siteId);
    expect(await keys(siteId)).toEqual([]);
  });

  describe('the reconciler of superseded builds', () => {
    /** Publishes the given number of builds in sequence; returns them, oldest first. */
    async function shown(siteId: string, many: number): Promise<string[]> {
      const jobs = Array.from({ length: many }, (_, i) => `sites.build-${i}`);
      for (const [i, job] of jobs.entries()) {
        await repository.offer(siteId, job);
        await repository.switchTo(siteId, job, i + 1);
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

    it('removes the pages of all but the last two after the grace period, and then leaves the site alone', async () => {
      const siteId = await create();
      const jobs = await shown(siteId, 5);
      await reconciler.reconcile(siteId);
      expect([removed(), await isTended(siteId)]).toEqual([[], true]);
      await aged(siteId);
      await reconciler.reconcile(siteId);
      expect([removed(), await isTended(siteId)]).toEqual([jobs.slice(0, 3), false]);
    });

    it('retries what could not be removed, and still requests builds', async () => {
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
      await expect(reconciler.reconcile(siteId)).rejects.toThrow('away');
      expect((await sites.view(siteId)).builds.map(({ state }) => state)).toEqual(['waiting']);
      await reconciler.reconcile(siteId);
      expect(removed()).toEqual([first, first]);
    });

    it('starts no further removal when its process shuts down', async () => {
      const siteId = await create();
      const [first] = await shown(siteId, 5);
      await aged(siteId);
      artifacts.removeAll.mockImplementationOnce(async () => reconciler.onModuleDestroy());
      await reconciler.reconcile(siteId);
      expect(removed()).toEqual([first]);
    });

    it('removes all of them with their site, however many and however new', async () => {
      const siteId = await create();
      const jobs = await shown(siteId, 250);
      await sites.delete(siteId, 'ada');
      expect(new Set(removed())).toEqual(new Set(jobs));
      expect(await keys(siteId)).toEqual([]);
    });
  });

  it('deletes a site even if another caller has used a cancel id', async () => {
    const siteId = await create();
    await sites.change(siteId, post);
    await owners.cancel(siteOwner('another'), { cancelId: `site-${siteId}` });
    await sites.delete(siteId, 'ada');
    expect(await keys(siteId)).toEqual([]);
  });

  it('uses one cancel, whichever process finishes the deletion', async () => {
    const siteId = await create();
    const cancel = vi.spyOn(owners, 'cancel');
    artifacts.removeAll.mockRejectedValue(new Error('away'));
    await repository.offer(siteId, 'sites.build-0');
    await sites.delete(siteId, 'ada');
    await expect(reconciler.reconcile(siteId)).rejects.toThrow('away');
    const ids = cancel.mock.calls.map(([, about]) => about?.cancelId);
    expect(ids).toEqual([ids[0], ids[0]]);
    expect(ids[0]).toMatch(new RegExp(`^site-${siteId}-.{30,}$`));
  });

  /** The keys of the site itself; what remains of its owner expires. */
  function keys(siteId: string): Promise<string[]> {
    return redis.keys(`${prefix}:{sites:*:${siteId}*`);
  }
});

const ANYWHERE = { strict: false } as const;
