import { MooringError, Owners } from '#core';
import { CommittedArtifacts, Enqueuer, JobReader, receiptOf } from '#nestjs';
import { Reconciler } from '#workload-kit';
import { Injectable } from '@nestjs/common';
import { build, siteOwner } from './site-kinds.js';
import { SiteRepository } from './site-repository.js';
import { isPending, BuildPublisher } from './build-publisher.js';

const AT_ONCE = 20;
/** Grace period for readers who looked up the current build just before it was superseded twice. */
const STILL_READ_MS = 5_000;

/**
 * Performs what follows from a change or a deletion, and finishes what a crashed process left: builds that
 * were not requested, failed, are not shown or are superseded, and deleted sites that are not cleaned up.
 */
@Injectable()
export class SiteReconciler extends Reconciler {
  constructor(
    private readonly repository: SiteRepository,
    private readonly enqueuer: Enqueuer,
    private readonly owners: Owners,
    private readonly jobs: JobReader,
    private readonly shown: BuildPublisher,
    private readonly artifacts: CommittedArtifacts,
  ) {
    super('sites');
  }

  async reconcileOnce(): Promise<void> {
    await this.perShard(
      (shard) => this.repository.take(shard, AT_ONCE),
      (siteId) => this.reconcile(siteId),
    );
  }

  async reconcile(siteId: string): Promise<void> {
    if (await this.repository.deletion(siteId)) return this.clear(siteId, 'sites');
    // Read before the current build: a build that ends between the two reads has shown what it was requested
    // for.
    const answered = await this.answered(siteId);
    await this.shown.settle(siteId);
    const { unshown } = await this.repository.standing(siteId);
    if (unshown !== undefined && unshown > answered) await this.ask(siteId, unshown);
    await this.removeBuilds(siteId, STILL_READ_MS);
  }

  /** The change is stored whether or not a build can be requested now. */
  async ask(siteId: string, version: number): Promise<void> {
    try {
      const { id } = await this.enqueuer.enqueue(build, {}, { owners: [siteOwner(siteId)] });
      await this.repository.recordBuild(siteId, version, id);
    } catch (error) {
      if (!(error instanceof MooringError)) throw error;
      this.log.debug(`A build of ${siteId} is asked for later: ${error.message}`);
    }
  }

  /** Every step is idempotent. The last one removes the site from the due list. */
  async clear(siteId: string, by: string): Promise<void> {
    const cancelId = await this.repository.deletion(siteId);
    // Another process has just finished the deletion.
    if (cancelId === undefined) return;
    const about = { reason: 'the site was deleted', by: by || 'sites', cancelId };
    await receiptOf(this.owners.cancel(siteOwner(siteId), about));
    for (const job of await this.repository.otherBuilds(siteId)) await this.artifacts.removeAll(job);
    while (!(await this.removeBuilds(siteId)));
    await this.repository.forget(siteId);
  }

  /**
   * Removes the pages of superseded builds, because those of a site that changes all the time would fill a disk before
   * retention runs. Their jobs stay until then. False if more remain: it removes a page of builds at a time.
   */
  private async removeBuilds(siteId: string, forMs?: number): Promise<boolean> {
    const builds = await this.repository.oldBuilds(siteId, forMs);
    for (const job of builds) {
      if (forMs !== undefined && this.isEnding) return false;
      await this.artifacts.removeAll(job);
      await this.repository.drop(siteId, job);
    }
    return builds.length === 0;
  }

  /** The version up to which a pending build will show every change; -1 if none is pending. */
  private async answered(siteId: string): Promise<number> {
    const { asked } = await this.repository.standing(siteId);
    return asked && isPending(await this.jobs.read(asked.job)) ? asked.version : -1;
  }
}
