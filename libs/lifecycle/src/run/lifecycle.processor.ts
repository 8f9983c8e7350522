import { Injectable } from '@nestjs/common';
import type { Job } from 'bullmq';
import assert from 'node:assert/strict';
import { JobRunner } from './job-runner.js';

/** What every BullMQ worker of ours calls: this job goes to the runner. No logic. */
@Injectable()
export class LifecycleProcessor {
  constructor(private readonly runner: JobRunner) {}

  // Two parameters: for a function that declares a third one BullMQ makes an abort signal and keeps book of it for every
  // job, to be used by its worker's `cancelJob` alone. A run has its own signal, which every reason to stop goes through.
  process(job: Job, token?: string): Promise<unknown> {
    assert(token, 'BullMQ gave this run no lock token');
    return this.runner.run(job, token);
  }
}
