import { setTimeout as pause } from 'node:timers/promises';
import type { HealthBook } from '../health/health.js';
import type { Log } from '../log/log.js';

/** A step of the shutdown. If it fails, the next one still runs. */
export interface ShutdownStep {
  readonly name: string;
  run(): Promise<unknown>;
}

/**
 * Shuts a process down once, in order and within a time limit. A second signal has no effect. Exit code 0 if every step ended, 1
 * if the time ran out.
 */
export class Shutdown {
  private readonly steps: ShutdownStep[] = [];
  private ending: Promise<void> | undefined;

  constructor(
    private readonly log: Log,
    private readonly health: HealthBook,
    private readonly timeoutMs: number,
    private readonly readyDelayMs = 0,
    private readonly exit: (code: number) => void = (code) => process.exit(code),
  ) {}

  /** Steps run in reverse order: resources opened last are closed first. */
  add(step: ShutdownStep): void {
    this.steps.unshift(step);
  }

  /** Runs after all other steps, for example to serve health until the end. */
  addLast(step: ShutdownStep): void {
    this.steps.push(step);
  }

  listen(): void {
    process.on('SIGTERM', () => void this.obey('SIGTERM'));
    for (const signal of ['SIGINT', 'SIGHUP'] as const) {
      // These reach the whole process group. Under the launcher, the launcher decides which process ends when.
      process.on(signal, () => {
        if (!process.env['LAUNCHED']) void this.obey(signal);
      });
    }
    process.on('disconnect', () => void this.begin('the launcher is gone'));
    // The launcher may have exited before the listener was added.
    if (process.env['LAUNCHED'] && !process.connected) void this.begin('the launcher is gone');
  }

  /** Shuts down without a delay, after a fault or when the launcher is gone. */
  begin(why: string, exitCode = 0): Promise<void> {
    this.ending ??= this.run(why, exitCode, 0);
    return this.ending;
  }

  /** Shuts down after a delay in which load balancers notice that the process is not ready. */
  obey(signal: NodeJS.Signals): Promise<void> {
    this.ending ??= this.run(signal, 0, this.readyDelayMs);
    return this.ending;
  }

  private async run(why: string, exitCode: number, delayMs: number): Promise<void> {
    const began = Date.now();
    this.log.info({ event: 'shutdown.began', why }, `Shutting down (${why})`);
    this.health.beginDraining();
    const timer = setTimeout(() => {
      this.log.error(
        { event: 'shutdown.forced' },
        `Shutdown did not finish within ${this.timeoutMs} ms; exiting`,
      );
      this.exit(1);
    }, this.timeoutMs);

    if (delayMs > 0) await pause(delayMs);
    // Steps may still be added while the first ones run: a process can be told to stop while it starts.
    for (let step = this.steps.shift(); step; step = this.steps.shift()) {
      await this.runStep(step);
    }
    clearTimeout(timer);
    this.log.info({ event: 'shutdown.done', tookMs: Date.now() - began }, 'Shutdown complete');
    this.exit(exitCode);
  }

  private async runStep(step: ShutdownStep): Promise<void> {
    try {
      await step.run();
    } catch (error) {
      this.log.error(
        { event: 'shutdown.step-failed', step: step.name, err: error },
        `${step.name} failed during shutdown`,
      );
    }
  }
}
