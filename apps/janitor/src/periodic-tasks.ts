import { Runtime } from '#runtime';
import { Injectable, type BeforeApplicationShutdown } from '@nestjs/common';
import { SchedulerRegistry } from '@nestjs/schedule';
import { TaskFailures } from './task-failures.js';
import { TaskGauges } from './task-gauges.js';

/** What a turn answers that left it to another process, which may hang for all that is known here. */
export const NOT_DONE = 'not done';

/** Does things at intervals: never one twice at once, never cut short by the end of the process. */
@Injectable()
export class PeriodicTasks implements BeforeApplicationShutdown {
  private readonly underWay = new Map<string, Promise<void>>();
  private readonly failures: TaskFailures;

  constructor(
    private readonly registry: SchedulerRegistry,
    runtime: Runtime,
    private readonly gauges: TaskGauges,
  ) {
    this.failures = new TaskFailures(runtime.log);
  }

  /** Now, and then every so often, and shows when it was done last; a turn is left out while the one before is still under way. */
  every(ms: number, name: string, work: () => Promise<void | typeof NOT_DONE>): void {
    const turn = (): void => {
      if (this.underWay.has(name)) return;
      const done = (async () => work())()
        .then((word) => {
          this.failures.done(name);
          if (word !== NOT_DONE) this.gauges.done(name);
        })
        .catch((error: unknown) => this.failures.failed(name, error))
        .finally(() => this.underWay.delete(name));
      this.underWay.set(name, done);
    };
    this.registry.addInterval(name, setInterval(turn, ms));
    this.gauges.takenOn(name, ms);
    turn();
  }

  async beforeApplicationShutdown(): Promise<void> {
    for (const name of this.registry.getIntervals()) this.registry.deleteInterval(name);
    await Promise.all(this.underWay.values());
  }
}
