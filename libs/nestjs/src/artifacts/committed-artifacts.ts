import { Inject, Injectable } from '@nestjs/common';
import { QueueRegistry } from '../enqueue/queue-registry.js';
import { fenceOfCompleted } from '../flows/early-parent.js';
import { artifactsIdOf, queueOfJobId } from '../kinds/job-ids.js';
import { MOORING_OPTIONS, type MooringOptions } from '../options.js';
import type { Artifact, ArtifactRange, ArtifactStore } from './artifact-store.js';

type Opened = Awaited<ReturnType<ArtifactStore['open']>>;

/** The artifacts that count: those of the run that completed the job. */
@Injectable()
export class CommittedArtifacts {
  private readonly store: ArtifactStore | undefined;

  constructor(
    @Inject(MOORING_OPTIONS) { artifacts }: MooringOptions,
    private readonly queues: QueueRegistry,
  ) {
    this.store = artifacts;
  }

  async list(jobId: string): Promise<Artifact[]> {
    const fence = this.store && (await this.fenceOf(jobId));
    return fence === undefined ? [] : this.store!.list(artifactsIdOf(jobId), fence);
  }

  async open(jobId: string, name: string, range?: ArtifactRange): Promise<Opened> {
    const fence = this.store && (await this.fenceOf(jobId));
    return fence === undefined ? undefined : this.store!.open(artifactsIdOf(jobId), name, range, fence);
  }

  /** Removes what all runs of the job have left, before its retention is over. */
  async removeAll(jobId: string): Promise<void> {
    await this.store?.removeAll(artifactsIdOf(jobId));
  }

  /** That of the run that has completed the job. */
  private async fenceOf(jobId: string): Promise<string | undefined> {
    const queue = this.queues.find(queueOfJobId(jobId) ?? '');
    const job = await queue?.getJob(jobId);
    return job && (await job.isCompleted()) ? String(await fenceOfCompleted(queue!, job)) : undefined;
  }
}
