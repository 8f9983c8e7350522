import { Injectable } from '@nestjs/common';
import type { Run } from './run.js';

/** Why a run is told to stop when its process is. Its job is handed back; no attempt is used up. */
export class ShuttingDown extends Error {
  /** A handler that has not ended after `graceMs` has its job handed back without it. */
  constructor(readonly graceMs: number) {
    super('This worker is shutting down.');
    this.name = 'ShuttingDown';
  }
}

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
    this.takenAt.set(run.facts.queue, Date.now());
  }

  remove(run: Run): void {
    this.runs.delete(run);
  }

  stopAll(graceMs: number): void {
    for (const run of this.runs) run.stop(new ShuttingDown(graceMs));
  }
}
