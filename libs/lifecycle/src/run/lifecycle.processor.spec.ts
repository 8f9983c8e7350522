import type { Job } from 'bullmq';
import { describe, expect, it } from 'vitest';
import type { JobRunner } from './job-runner.js';
import { LifecycleProcessor } from './lifecycle.processor.js';

describe('the processor of every queue', () => {
  const job = { id: 'q-1' } as Job;
  const { signal } = new AbortController();
  const runner = { run: async (...given: unknown[]) => given } as unknown as JobRunner;
  const processor = new LifecycleProcessor(runner);

  it('declares three parameters, also when it is bound, or BullMQ makes no abort signal', () => {
    expect(processor.process).toHaveLength(3);
    expect(processor.process.bind(processor)).toHaveLength(3);
  });

  it('hands the job, its lock and its signal to the runner', async () => {
    expect(await processor.process(job, 'token', signal)).toEqual([job, 'token', signal]);
  });

  it.each([
    ['no signal', 'token', undefined],
    ['no token', undefined, signal],
    ['an empty token', '', signal],
    ['neither', undefined, undefined],
  ])('refuses loudly to run a job that comes with %s', (_, token, given) => {
    expect(() => processor.process(job, token, given)).toThrow(
      'BullMQ gave this run no lock token or no abort signal',
    );
  });
});
