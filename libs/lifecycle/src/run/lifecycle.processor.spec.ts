import type { Job } from 'bullmq';
import { describe, expect, it } from 'vitest';
import type { JobRunner } from './job-runner.js';
import { LifecycleProcessor } from './lifecycle.processor.js';

describe('the processor of every queue', () => {
  const job = { id: 'q-1' } as Job;
  const runner = { run: async (...given: unknown[]) => given } as unknown as JobRunner;
  const processor = new LifecycleProcessor(runner);

  it('declares two parameters, also when it is bound, so that BullMQ makes no signal that nobody uses', () => {
    expect(processor.process).toHaveLength(2);
    expect(processor.process.bind(processor)).toHaveLength(2);
  });

  it('hands the job and its lock to the runner', async () => {
    expect(await processor.process(job, 'token')).toEqual([job, 'token']);
  });

  it.each([
    ['no token', undefined],
    ['an empty token', ''],
  ])('refuses loudly to run a job that comes with %s', (_, token) => {
    expect(() => processor.process(job, token)).toThrow('BullMQ gave this run no lock token');
  });
});
