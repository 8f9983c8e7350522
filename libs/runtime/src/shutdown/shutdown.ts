import { setTimeout as pause } from 'node:timers/promises';
import type { HealthBook } from '../health/health.js';
import type { Log } from '../log/log.js';

/** What ends, in this order. A step that fails does not keep the next from its turn. */
export interface ShutdownStep {
  readonly name: string;
  run(): Promise<unknown>;
}

/**
 * Ends a process once, in order and in time. A second signal changes nothing: the first is already being obeyed.
 * Exit code 0 when every step ended, 1 when the time ran out.
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

  /** A step added later runs earlier: what was opened last is closed first. */
  add(step: ShutdownStep): void {
    this.steps.unshift(step);
  }

  /** Runs after every step that is there already, whatever is added later: health is served until the end. */
  addLast(step: ShutdownStep): void {
    this.steps.push(step);
  }

  listen(): void {
    process.on('SIGTERM', () => void this.obey('SIGTERM'));
    process.on('SIGINT', () => {
      // Under our launcher, Ctrl-C reaches the whole group at once; the launcher decides who ends when.
      if (!process.env['LAUNCHED']) void this.obey('SIGINT');
    });
    process.on('SIGHUP', () => {
      if (!process.env['LAUNCHED']) void this.obey('SIGHUP');
    });
    process.on('disconnect', () => void this.begin('the launcher is gone'));
    // It may have gone before anybody listened.
    if (process.env['LAUNCHED'] && !process.connected) void this.begin('the launcher is gone');
  }

  /** Ends without a delay: after a fault, or when the launcher is gone, nothing is gained by serving longer. */
  begin(why: string, exitCode = 0): Promise<void> {
    this.ending ??= this.run(why, exitCode, 0);
    return this.ending;
  }

  /** Ends after the time that load balancers need to see that this process is not ready any more. */
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
        `Not ended within ${this.timeoutMs} ms; leaving the rest behind`,
      );
      this.exit(1);
    }, this.timeoutMs);

    if (delayMs > 0) await pause(delayMs);
    // Steps may still be added while the first ones run: a process can be told to stop while it starts.
    for (let step = this.steps.shift(); step; step = this.steps.shift()) {
      await this.take(step);
    }
    clearTimeout(timer);
    this.log.info({ event: 'shutdown.done', tookMs: Date.now() - began }, 'Ended');
    this.exit(exitCode);
  }

  private async take(step: ShutdownStep): Promise<void> {
    try {
      await step.run();
    } catch (error) {
      this.log.error(
        { event: 'shutdown.step-failed', step: step.name, err: error },
        `${step.name} did not end well`,
      );
    }
  }
}
