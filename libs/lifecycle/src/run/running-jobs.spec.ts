import type { Job } from 'bullmq';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { Run } from './run.js';
import { defineKind } from '../kinds/kind.js';
import { RunningJobs } from './running-jobs.js';
import { ShuttingDown } from './stop-reasons.js';

const kind = defineKind({ name: 'k', queue: 'a', payload: z.object({}) });

const aRun = (queue: string): Run => {
  const envelope = { v: 1, o: ['trip:42'], e: ['1'], b: {} } as const;
  const job = { queueName: queue, name: 'k', id: `${queue}-1`, attemptsMade: 0, data: envelope };
  return new Run(job as unknown as Job, kind, envelope, [], 'token', () => undefined);
};

describe('the running jobs', () => {
  it('are counted, in all and by queue', () => {
    const running = new RunningJobs();
    const first = aRun('a');
    for (const run of [first, aRun('a'), aRun('b')]) running.add(run);
    expect([running.count, running.countIn('a'), running.countIn('b'), running.countIn('c')]).toEqual([
      3, 2, 1, 0,
    ]);
    running.remove(first);
    expect([running.count, running.countIn('a')]).toEqual([2, 1]);
  });

  it('remember when a queue was last taken from, also when nothing of it ran', () => {
    const running = new RunningJobs();
    expect(running.lastTakenAt('a')).toBe(0);
    const before = Date.now();
    running.noteTaken('a');
    expect(running.lastTakenAt('a')).toBeGreaterThanOrEqual(before);
    expect(running.lastTakenAt('b')).toBe(0);
  });

  it('are told why they stop, and how long they may take', () => {
    const running = new RunningJobs();
    const runs = [aRun('a'), aRun('b')];
    for (const run of runs) running.add(run);
    running.stopAll(250);
    expect(runs.map(({ signal }) => [signal.aborted, signal.reason])).toEqual([
      [true, new ShuttingDown(250)],
      [true, new ShuttingDown(250)],
    ]);
    expect(new ShuttingDown(250)).toMatchObject({ name: 'ShuttingDown', graceMs: 250 });
  });

  it('drain from the moment they are told to', () => {
    const running = new RunningJobs();
    expect(running.isDraining).toBe(false);
    running.beginDraining();
    expect(running.isDraining).toBe(true);
  });
});
