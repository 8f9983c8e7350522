import { Owners } from '#core';
import {
  Inject,
  Injectable,
  Logger,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { ApplicationQueues } from '../queues/application-queues.js';
import { AdoptionTurns } from './adoption-turns.js';
import { SweepSettings } from './sweep-settings.js';
import { SweepTimer } from './sweep-timer.js';
import { Sweeper } from './sweeper.js';

/** How long a requested sweep waits for a janitor at most. */
const ASKED_EVERY_MS = 500;

/** The timers of this process's sweeps. They run from the start of the application to the beginning of its shutdown. */
@Injectable()
export class Sweeps implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly timers: SweepTimer[] = [];
  private readonly logger = new Logger('Mooring');

  constructor(
    private readonly settings: SweepSettings,
    private readonly sweeper: Sweeper,
    @Inject(Owners) private readonly owners: Owners,
    @Inject(ApplicationQueues) private readonly queues: ApplicationQueues,
  ) {}

  onApplicationBootstrap(): void {
    const { hasTimers, adoptMs, resumeMs } = this.settings;
    if (!hasTimers) return;
    for (const queue of this.queues.withOwnersOf()) {
      const turns = new AdoptionTurns(queue);
      this.start(`The adoption of jobs in queue "${queue.name}"`, adoptMs, () => turns.sweepOnce());
    }
    this.start('The clean-up of cancels', resumeMs, () => this.owners.resume());
    this.start('The answer to requested sweeps', ASKED_EVERY_MS, () => this.sweeper.answerAsked());
    for (const kind of this.sweeper.kinds()) this.startSweep(kind);
  }

  async beforeApplicationShutdown(): Promise<void> {
    const stopped = this.timers.splice(0).map((timer) => timer.stop());
    await this.sweeper.beforeApplicationShutdown();
    await Promise.all(stopped);
  }

  /** Expiry has to be timely, and a turn without work is cheap. Of other sweeps one process does each in half an interval. */
  private startSweep(kind: string): void {
    const everyMs = this.settings.everyMs(kind);
    if (everyMs === undefined) return;
    const restMs = kind === 'expiry' ? 0 : everyMs / 2;
    this.start(`The sweep of ${kind}`, everyMs, async () => {
      const done = await this.sweeper.sweepIfNeeded(kind, restMs);
      if (typeof done === 'object' && done.state === 'failed') throw new Error(done.why);
    });
  }

  private start(name: string, everyMs: number, sweepOnce: () => Promise<unknown>): void {
    const timer = new SweepTimer(name, everyMs, sweepOnce, this.logger);
    this.timers.push(timer);
    timer.start();
  }
}
