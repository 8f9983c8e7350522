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

  // Keep all three parameters: BullMQ makes an AbortSignal only for a function that declares a third one.
  process(job: Job, token?: string, signal?: AbortSignal): Promise<unknown> {
    assert(token && signal, 'BullMQ gave this run no lock token or no abort signal');
    return this.runner.run(job, token, signal);
  }
}
