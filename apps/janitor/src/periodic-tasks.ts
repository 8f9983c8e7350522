import { Runtime } from '#runtime';
import { Injectable, type BeforeApplicationShutdown } from '@nestjs/common';
import { SchedulerRegistry } from '@nestjs/schedule';
import { setTimeout as pause } from 'node:timers/promises';
import { TaskReports } from './task-reports.js';

/** Returned by a task that another process holds. It does not count as done, because that process may hang. */
export const NOT_DONE = 'not done';

/** Time for running tasks at shutdown. While the store is away a task does not end. */
const SHUTDOWN_MS = 5_000;

/** Runs tasks at intervals. A task never overlaps itself. */
@Injectable()
export class PeriodicTasks implements BeforeApplicationShutdown {
  private readonly running = new Map<string, Promise<void>>();
  private readonly reports: TaskReports;

  constructor(
    private readonly registry: SchedulerRegistry,
    runtime: Runtime,
  ) {
    this.reports = new TaskReports(runtime);
  }

  /** Runs `work` now and then every `ms`. Skips a turn while the previous one is still running. */
  every(ms: number, name: string, work: () => Promise<void | typeof NOT_DONE>): void {
    const turn = (): void => {
      if (this.running.has(name)) return;
      const done = (async () => work())()
        .then((word) => {
          this.reports.recovered(name);
          if (word !== NOT_DONE) this.reports.done(name);
        })
        .catch((error: unknown) => this.reports.failed(name, error))
        .finally(() => this.running.delete(name));
      this.running.set(name, done);
    };
    this.registry.addInterval(name, setInterval(turn, ms));
    this.reports.register(name, ms);
    turn();
  }

  async beforeApplicationShutdown(): Promise<void> {
    for (const name of this.registry.getIntervals()) this.registry.deleteInterval(name);
    const ended = Promise.all(this.running.values());
    await Promise.race([ended, pause(SHUTDOWN_MS, undefined, { ref: false })]);
  }
}
