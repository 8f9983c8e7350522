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
  constructor(
    @Inject(MOORING_OPTIONS) private readonly options: MooringOptions,
    private readonly queues: QueueRegistry,
  ) {}

  async list(jobId: string): Promise<Artifact[]> {
    const fence = await this.fenceOf(jobId);
    return fence === undefined ? [] : this.options.artifacts!.list(artifactsIdOf(jobId), fence);
  }

  async open(jobId: string, name: string, range?: ArtifactRange): Promise<Opened> {
    const fence = await this.fenceOf(jobId);
    return fence === undefined
      ? undefined
      : this.options.artifacts!.open(artifactsIdOf(jobId), name, range, fence);
  }

  /** Removes what all runs of the job have left, before its retention is over. */
  async removeAll(jobId: string): Promise<void> {
    await this.options.artifacts?.removeAll(artifactsIdOf(jobId));
  }

  private async fenceOf(jobId: string): Promise<string | undefined> {
    const queue = this.options.artifacts && this.queues.find(queueOfJobId(jobId) ?? '');
    const job = await queue?.getJob(jobId);
    return job && (await job.isCompleted()) ? String(await fenceOfCompleted(queue!, job)) : undefined;
  }
}
