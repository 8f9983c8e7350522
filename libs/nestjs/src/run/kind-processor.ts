import { MooredJob } from '#core/parts';
import { WorkerHost } from '@nestjs/bullmq';
import { Inject } from '@nestjs/common';
import type { Job } from 'bullmq';
import assert from 'node:assert/strict';
import { KindRunner } from './kind-runner.js';

/**
 * The processor of a queue of kinds: `@Processor('media') class MediaProcessor extends KindProcessor {}`. Each job goes to the handler of its
 * kind. Its options are those of `forRoot({ worker })`.
 */
export abstract class KindProcessor extends WorkerHost {
  @Inject(KindRunner) private readonly runner!: KindRunner;

  // A third parameter would make BullMQ create an AbortSignal for each job. A run creates one when its handler asks for it.
  process(job: Job, token?: string): Promise<unknown> {
    const stop = MooredJob.runOf(job);
    assert(token && stop, 'This run has no lock token, or its worker is none of Mooring');
    return this.runner.run(job, token, stop);
  }
}
