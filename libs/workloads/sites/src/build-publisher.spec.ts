import { ArtifactReader, Enqueuer, Handler, Handles, JobReader, type Payload, type Run } from '#lifecycle';
import { Injectable } from '@nestjs/common';
import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { defer, type Deferred } from '../../../../test/support/defer.js';
import { KeptArtifacts } from '../../../../test/support/kept-artifacts.js';
import { LifecycleApp } from '../../../../test/support/lifecycle-app.js';
import { until } from '../../../../test/support/until.js';
import { BuildPublisher } from './build-publisher.js';
import { build, siteOwner } from './site-kinds.js';
import { SiteRepository } from './site-repository.js';

/** For each run: it has offered its build, and may end. */
let offered: Deferred<void>;
let mayEnd: Deferred<void>;

/** Writes and offers a build, then does not end. */
@Injectable()
@Handles(build)
class SlowBuild extends Handler<typeof build> {
  constructor(private readonly sites: SiteRepository) {
    super();
  }

  async handle(_payload: Payload<typeof build>, run: Run): Promise<void> {
    const siteId = run.owners[0]!.id;
    const record = await this.sites.begin(siteId, run.id);
    await run.artifacts.put('index.html', 'half');
    await this.sites.offer(siteId, run.id, record!.version, run.fence);
    offered.resolve();
    await mayEnd.promise;
  }
}

describe('an offered build', () => {
  let app: LifecycleApp;
  let artifacts: KeptArtifacts;
  let sites: SiteRepository;
  let siteId: string;
  let job: string;

  beforeEach(async () => {
    [offered, mayEnd] = [defer(), defer()];
    const prefix = `test-${randomBytes(6).toString('hex')}`;
    artifacts = await KeptArtifacts.open(prefix);
    const providers = [ArtifactReader, JobReader, BuildPublisher, SiteRepository, SlowBuild];
    const more = { artifacts: artifacts.store };
    app = await LifecycleApp.start([build], providers, {}, inject('storeUrl'), prefix, more);
    sites = app.context.get(SiteRepository);
    siteId = await sites.create({ name: '', url: (id) => id, paceMs: 0 });
    ({ id: job } = await app.context.get(Enqueuer).enqueue(build, {}, { owners: [siteOwner(siteId)] }));
    await offered.promise;
  });
  afterEach(async () => {
    mayEnd.resolve();
    await isOver();
    await sites.delete(siteId);
    await sites.forget(siteId);
    await artifacts.clear();
    await app.stop();
    await artifacts.close();
  });

  it('is hidden until its run counts, and shown from then on', async () => {
    await app.context.get(BuildPublisher).settle(siteId);
    expect(await current()).toBeUndefined();
    expect((await sites.offers(siteId)).map((offer) => offer.job)).toEqual([job]);

    mayEnd.resolve();
    await isOver();
    await app.context.get(BuildPublisher).settle(siteId);
    expect(await current()).toBe(job);
    expect(await sites.offers(siteId)).toEqual([]);
  });

  it('would be shown half-written without the check that its run counts', async () => {
    const believing = { list: async () => [{}] } as unknown as ArtifactReader;
    await new BuildPublisher(sites, believing, app.context.get(JobReader)).settle(siteId);
    expect(await current()).toBe(job);
    expect(await artifacts.store.list(job)).toEqual([]);
  });

  async function current(): Promise<string | undefined> {
    return (await sites.find(siteId))?.current?.job;
  }

  async function isOver(): Promise<void> {
    await until(
      async () => (await app.context.get(JobReader).read(job))?.state === 'completed',
      'the run has ended',
    );
  }
});
