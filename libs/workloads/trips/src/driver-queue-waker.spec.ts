import type { JobReader, JobViewState, Waker } from '#nestjs';
import { describe, expect, it } from 'vitest';
import { until } from '../../../../test/support/until.js';
import type { TripRepository } from './trip-repository.js';
import { DriverQueueWaker } from './driver-queue-waker.js';

/** A driver's queue. Each job lists the states that successive reads find; the last state stays. */
class Line {
  readonly woken: string[] = [];
  readonly passed: string[] = [];
  readonly queueWaker: DriverQueueWaker;

  constructor(private readonly states: Record<string, (JobViewState | undefined)[]>) {
    const trips = { pass: (driverId: string, jobId: string) => Promise.resolve(this.pass(driverId, jobId)) };
    const waker = { wake: (_queue: string, jobId: string) => Promise.resolve(this.wake(jobId)) };
    const jobs = { read: (jobId: string) => Promise.resolve(this.read(jobId)) };
    this.queueWaker = new DriverQueueWaker(
      trips as unknown as TripRepository,
      waker as unknown as Waker,
      jobs as unknown as JobReader,
    );
  }

  private wake(jobId: string): boolean {
    const can = this.states[jobId]![0] === 'delayed';
    if (can) this.woken.push(jobId);
    return can;
  }

  private read(jobId: string): { state: JobViewState } | undefined {
    const states = this.states[jobId]!;
    const state = states.length > 1 ? states.shift() : states[0];
    return state && { state };
  }

  private pass(driverId: string, jobId: string): string[] {
    this.passed.push(`${jobId} of ${driverId}`);
    const rest = Object.keys(this.states);
    const next = rest[rest.indexOf(jobId) + 1];
    return next === undefined ? ['passed'] : ['passed', `${next} ${driverId}`];
  }
}

describe("waking the first request in a driver's queue", () => {
  it('wakes a delayed request', async () => {
    const line = new Line({ a: ['delayed'], b: ['delayed'] });
    line.queueWaker.wake(['a ann lee', undefined]);
    await until(() => line.woken.length > 0, 'it is woken');
    expect(line).toMatchObject({ woken: ['a'], passed: [] });
  });

  it('removes requests that have ended or are gone and wakes the next', async () => {
    const line = new Line({ a: ['failed'], b: [undefined], c: ['removed'], d: ['delayed'], e: ['delayed'] });
    line.queueWaker.wake(['a ann lee']);
    await until(() => line.woken.length > 0, 'the next is woken');
    expect(line).toMatchObject({ woken: ['d'], passed: ['a of ann lee', 'b of ann lee', 'c of ann lee'] });
  });

  it('retries while the first request is still running', async () => {
    const line = new Line({ a: ['running', 'running', 'delayed'] });
    line.queueWaker.wake(['a ann']);
    await until(() => line.woken.length > 0, 'it is woken');
    expect(line).toMatchObject({ woken: ['a'], passed: [] });
  });

  it('leaves a request that is about to run alone', async () => {
    const line = new Line({ a: ['waiting'], b: ['delayed'] });
    line.queueWaker.wake(['a ann', 'b bob']);
    await until(() => line.woken.length > 0, 'the other is woken');
    expect(line).toMatchObject({ woken: ['b'], passed: [] });
  });
});
