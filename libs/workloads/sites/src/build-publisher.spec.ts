import { CommittedArtifacts, Enqueuer, Handler, Handles, JobReader, type Payload, type Run } from '#nestjs';
import { WorkloadStore } from '#workload-kit';
import { Injectable, type INestApplicationContext } from '@nestjs/common';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { defer, type Deferred } from '../../../../test/support/defer.js';
import { KeptArtifacts } from '../../../../test/support/kept-artifacts.js';
import { KindApp } from '../../../../test/support/kind-app.js';
import { until } from '../../../../test/support/until.js';
import { BuildPublisher } from './build-publisher.js';
import { build, siteOwner } from './site-kinds.js';
import { SiteRepository } from './site-repository.js';
import { BuildProcessor } from './sites.processor.js';

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

  async handle(_payload: Payload<typeof build>, run: Run): Promise<object> {
    const siteId = run.owners[0]!.id;
    const record = await this.sites.begin(siteId, run.id);
    await run.artifacts.put('index.html', 'half');
    await this.sites.offer(siteId, run.id);
    offered.resolve();
    await mayEnd.promise;
    return { version: record!.version };
  }
}

describe('an offered build', () => {
  let app: KindApp;
  let context: INestApplicationContext;
  let artifacts: KeptArtifacts;
  let sites: SiteRepository;
  let siteId: string;
  let job: string;

  beforeEach(async () => {
    [offered, mayEnd] = [defer(), defer()];
    app = new KindApp();
    artifacts = await KeptArtifacts.open(app.prefix);
    const store = { provide: WorkloadStore, useValue: new WorkloadStore(app.redis, app.prefix) };
    const providers = [store, BuildPublisher, SiteRepository, SlowBuild, BuildProcessor];
    context = await app.start([build], providers, { artifacts: artifacts.store, worker: {} });
    sites = context.get(SiteRepository);
    siteId = await sites.create({ name: '', url: (id) => id, paceMs: 0 });
    ({ id: job } = await context.get(Enqueuer).enqueue(build, {}, { owners: [siteOwner(siteId)] }));
    await offered.promise;
  });
  afterEach(async () => {
    mayEnd.resolve();
    await isOver();
    await artifacts.clear();
    await app.stop();
    await artifacts.close();
  });

  it('is hidden until its run counts, and shown from then on', async () => {
    await context.get(BuildPublisher).settle(siteId);
    expect(await current()).toBeUndefined();
    expect(await sites.offers(siteId)).toEqual([job]);

    mayEnd.resolve();
    await isOver();
    await context.get(BuildPublisher).settle(siteId);
    expect(await current()).toBe(job);
    expect(await sites.offers(siteId)).toEqual([]);
  });

  it('would be shown half-written if the state of its job were not read', async () => {
    const read = async (): Promise<object> => ({ state: 'completed', result: { version: 0 } });
    await new BuildPublisher(sites, { read } as unknown as JobReader).settle(siteId);
    expect(await current()).toBe(job);
    expect(await context.get(CommittedArtifacts).list(job)).toEqual([]);
  });

  async function current(): Promise<string | undefined> {
    return (await sites.find(siteId))?.current?.job;
  }

  async function isOver(): Promise<void> {
    await until(
      async () => (await context.get(JobReader).read(job))?.state === 'completed',
      'the run has ended',
    );
  }
});
