import { Injectable } from '@nestjs/common';
import type { Job } from 'bullmq';
import assert from 'node:assert/strict';
import { JobRunner } from './job-runner.js';

/** What every BullMQ worker of ours calls: this job goes to the runner. No logic. */
@Injectable()
export class LifecycleProcessor {
  constructor(private readonly runner: JobRunner) {}

  // Keep all three parameters: BullMQ creates an AbortSignal only for a function that declares a third one.
  process(job: Job, token?: string, signal?: AbortSignal): Promise<unknown> {
    assert(token && signal, 'BullMQ gave this run no lock token or no abort signal');
    return this.runner.run(job, token, signal);
  }
}
