import { JobReader, Waker, type JobViewState } from '#nestjs';
import { Injectable, Logger } from '@nestjs/common';
import { setTimeout as pause } from 'node:timers/promises';
import { request } from './trip-kinds.js';
import { TripRepository } from './trip-repository.js';

/** Pauses between attempts while the first request is still running and cannot be woken yet. */
const LOOKS_MS = [25, 50, 100, 250, 500, 1_000];
/** Limit on ended requests removed from the head of a queue in one wake. */
const MOST_PASSED = 100;
const LIVES = new Set<JobViewState>(['waiting', 'running', 'delayed', 'retrying']);

/**
 * Wakes the first request in a driver's queue. Callers do not wait for the result: a request whose wake is
 * lost checks again by itself after 30 s.
 */
@Injectable()
export class DriverQueueWaker {
  private readonly log = new Logger('Trips');

  constructor(
    private readonly trips: TripRepository,
    private readonly waker: Waker,
    private readonly jobs: JobReader,
  ) {}

  /** Each entry is `<job id> <driver id>`, as the scripts return it. */
  wake(firsts: readonly (string | undefined)[]): void {
    for (const first of firsts) {
      if (first) this.wakeFirst(first).catch((error: Error) => this.log.warn(error.message));
    }
  }

  /** Removes requests whose job has ended, because they would block the queue for good. */
  private async wakeFirst(first: string): Promise<void> {
    let next: string | undefined = first;
    for (let passed = 0; next && passed < MOST_PASSED; passed += 1) {
      const space = next.indexOf(' ');
      const [jobId, driverId] = [next.slice(0, space), next.slice(space + 1)];
      if (!(await this.hasEnded(jobId))) return;
      [, next] = await this.trips.pass(driverId, jobId);
    }
  }

  /**
   * False if the job was woken or is about to run. A running job cannot be woken before it is delayed again,
   * and has missed what changed since it checked.
   */
  private async hasEnded(jobId: string): Promise<boolean> {
    for (const lookMs of LOOKS_MS) {
      if (await this.waker.wake(request.queue, jobId)) return false;
      const job = await this.jobs.read(jobId);
      if (!job || !LIVES.has(job.state)) return true;
      if (job.state === 'waiting') return false;
      await pause(lookMs, undefined, { ref: false });
    }
    return false;
  }
}
