import {
  Canceller,
  Enqueuer,
  JobReader,
  LifecycleError,
  meansUnavailable,
  StoreUnavailableError,
} from '#lifecycle';
import { Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import { OldBuilds } from './old.builds.js';
import { shards } from './sites.keys.js';
import { build, siteOwner } from './sites.kinds.js';
import { SitesRepository, type Standing } from './sites.repository.js';
import { isPending, ShownBuilds } from './shown.builds.js';

const AT_ONCE = 20;

/**
 * What follows from a change or from a deletion; and what somebody else has begun and not ended: builds that were not asked for,
 * or failed, or are not shown, or are old, deleted sites that are not tidied up. Any number of processes may; a site that one
 * has taken the others leave alone for a while.
 */
@Injectable()
export class SiteCare implements OnModuleDestroy {
  private readonly log = new Logger('sites');
  private isEnding = false;

  constructor(
    private readonly repository: SitesRepository,
    private readonly enqueuer: Enqueuer,
    private readonly canceller: Canceller,
    private readonly jobs: JobReader,
    private readonly shown: ShownBuilds,
    private readonly old: OldBuilds,
  ) {}

  /** Before anybody waits for what is under way. */
  onModuleDestroy(): void {
    this.isEnding = true;
  }

  async tendOnce(): Promise<void> {
    for (const shard of shards) {
      if (this.isEnding) return;
      for (const siteId of await this.repository.take(shard, AT_ONCE)) {
        if (this.isEnding) return;
        // One that cannot be tended now does not keep the others waiting.
        await this.tend(siteId).catch((error: unknown) => this.tell(error));
      }
    }
  }

  async tend(siteId: string): Promise<void> {
    if (await this.repository.deletion(siteId)) return this.clear(siteId, 'sites');
    // Before it is looked at what readers get: a build that ends in between has shown what it was asked for.
    const answered = await this.answered(siteId);
    await this.shown.settle(siteId);
    const { unshown } = await this.repository.standing(siteId);
    if (unshown !== undefined && unshown > answered) await this.ask(siteId, unshown);
    for (const job of await this.old.due(siteId)) {
      if (this.isEnding) return;
      await this.old.remove(siteId, job);
    }
  }

  /** What was written stands whether or not a build can be asked for now. */
  async ask(siteId: string, version: number): Promise<void> {
    try {
      const { id } = await this.enqueuer.enqueue(build, {}, { owners: [siteOwner(siteId)] });
      await this.repository.asked(siteId, version, id);
    } catch (error) {
      if (!(error instanceof LifecycleError)) throw error;
      this.log.debug(`A build of ${siteId} is asked for later: ${error.message}`);
    }
  }

  /** Each step may be done twice; the last one leaves nothing that leads here. */
  async clear(siteId: string, by: string): Promise<void> {
    const cancelId = await this.repository.deletion(siteId);
    // Somebody else has just come to the end of it.
    if (cancelId === undefined) return;
    const about = { reason: 'the site was deleted', by: by || 'sites', cancelId };
    await this.canceller.cancel(siteOwner(siteId), about);
    await this.old.removeAll(siteId);
    await this.repository.forget(siteId);
  }

  /** A store that is away is said by others. */
  tell(error: unknown): void {
    if (error instanceof StoreUnavailableError || meansUnavailable(error)) return;
    this.log.warn(error);
  }

  /** The version up to which everything will be shown by a build that is not over. */
  private async answered(siteId: string): Promise<number> {
    const { asked }: Standing = await this.repository.standing(siteId);
    return asked && isPending(await this.jobs.read(asked.job)) ? asked.version : -1;
  }
}
