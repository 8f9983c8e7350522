import { Injectable } from '@nestjs/common';
import type { Run } from './run.js';
import { ShuttingDown } from './stop-reasons.js';

/** The runs of this process, and whether it has begun to stop. */
@Injectable()
export class RunningJobs {
  private readonly runs = new Set<Run>();
  private readonly takenAt = new Map<string, number>();
  private draining = false;

  get count(): number {
    return this.runs.size;
  }

  countIn(queue: string): number {
    let count = 0;
    for (const run of this.runs) if (run.facts.queue === queue) count += 1;
    return count;
  }

  all(): Run[] {
    return [...this.runs];
  }

  /** The runs of a job: at most one, but for the moment in which a lost one still ends. */
  of(jobId: string): Run[] {
    return this.all().filter((run) => run.jobId === jobId);
  }

  /** This process has taken a job from that queue, whatever becomes of it: the gate may have it wait. */
  noteTaken(queue: string): void {
    this.takenAt.set(queue, Date.now());
  }

  /** When a job of that queue was last taken, in ms; 0 for never. */
  lastTakenAt(queue: string): number {
    return this.takenAt.get(queue) ?? 0;
  }

  /** From then on a job that still arrives is handed back unstarted. */
  get isDraining(): boolean {
    return this.draining;
  }

  beginDraining(): void {
    this.draining = true;
  }

  add(run: Run): void {
    this.runs.add(run);
  }

  remove(run: Run): void {
    this.runs.delete(run);
  }

  stopAll(graceMs: number): void {
    for (const run of this.runs) run.stop(new ShuttingDown(graceMs));
  }
}
