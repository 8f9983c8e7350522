import { JobReader, Waker, type JobViewState } from '#lifecycle';
import { Injectable, Logger } from '@nestjs/common';
import { setTimeout as pause } from 'node:timers/promises';
import { TripRepository } from './trips.repository.js';

/** How long one that runs has to come to its rest, look by look. */
const LOOKS_MS = [25, 50, 100, 250, 500, 1_000];
/** So many that have ended may stand before one who waits. */
const MOST_PASSED = 100;
const LIVES = new Set<JobViewState>(['waiting', 'running', 'delayed', 'retrying']);

/** Has the first in a driver's line look again. Nobody waits for this: one that is not woken looks again by itself. */
@Injectable()
export class TripWakes {
  private readonly log = new Logger('Trips');

  constructor(
    private readonly trips: TripRepository,
    private readonly waker: Waker,
    private readonly jobs: JobReader,
  ) {}

  /** Each is a job, a space, and its driver, as scripts answer it. */
  wake(firsts: readonly (string | undefined)[]): void {
    for (const first of firsts) {
      if (first) this.wakeFirst(first).catch((error: Error) => this.log.warn(error.message));
    }
  }

  /** Who will not ask again, because its job has ended, keeps nobody waiting. */
  private async wakeFirst(first: string): Promise<void> {
    let next: string | undefined = first;
    for (let passed = 0; next && passed < MOST_PASSED; passed += 1) {
      const space = next.indexOf(' ');
      const [jobId, driverId] = [next.slice(0, space), next.slice(space + 1)];
      if (!(await this.hasEnded(jobId))) return;
      [, next] = await this.trips.pass(driverId, jobId);
    }
  }

  /** It has, or it looks again. One that is on its way to wait cannot be woken yet, and does not know what came meanwhile. */
  private async hasEnded(jobId: string): Promise<boolean> {
    for (const lookMs of LOOKS_MS) {
      if (await this.waker.wake(jobId)) return false;
      const job = await this.jobs.read(jobId);
      if (!job || !LIVES.has(job.state)) return true;
      if (job.state === 'waiting') return false;
      await pause(lookMs, undefined, { ref: false });
    }
    return false;
  }
}
