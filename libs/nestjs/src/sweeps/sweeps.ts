import { Owners } from '#core';
import { durationMs } from '#core/parts';
import {
  Inject,
  Injectable,
  Logger,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { MOORING_OPTIONS, type MooringOptions, type SweepOptions } from '../options.js';
import { ApplicationQueues } from '../queues/application-queues.js';
import { MooringSetupError } from '../setup-error.js';
import { AdoptionTurns } from './adoption-turns.js';
import { OutageLog } from './outage-log.js';
import { SweepTimer } from './sweep-timer.js';

const DEFAULT_EVERY = '30s';
const LEAST_MS = 100;
/** More than a timer of Node can wait is no wait at all. */
const MOST_MS = 2 ** 31 - 1;

/** The sweeps of this process: their timers run from the start of the application to the beginning of its shutdown. */
@Injectable()
export class Sweeps implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly timers: SweepTimer[] = [];
  private readonly logger = new Logger('Mooring');
  private readonly every: { readonly adoptMs: number; readonly resumeMs: number } | undefined;

  constructor(
    @Inject(MOORING_OPTIONS) { sweeps = false }: MooringOptions,
    @Inject(Owners) private readonly owners: Owners,
    @Inject(ApplicationQueues) private readonly queues: ApplicationQueues,
  ) {
    this.every = sweeps === false ? undefined : readIntervals(sweeps === true ? {} : sweeps);
  }

  onApplicationBootstrap(): void {
    if (!this.every) return;
    const { adoptMs, resumeMs } = this.every;
    for (const queue of this.queues.withOwnersOf()) {
      const turns = new AdoptionTurns(queue);
      this.start(`The adoption of jobs in queue "${queue.name}"`, adoptMs, () => turns.sweepOnce());
    }
    this.start('The clean-up of cancels', resumeMs, () => this.owners.resume());
  }

  async beforeApplicationShutdown(): Promise<void> {
    await Promise.all(this.timers.splice(0).map((timer) => timer.stop()));
  }

  private start(name: string, everyMs: number, sweepOnce: () => Promise<unknown>): void {
    const timer = new SweepTimer(everyMs, sweepOnce, new OutageLog(name, this.logger));
    this.timers.push(timer);
    timer.start();
  }
}

function readIntervals({ adoptEvery = DEFAULT_EVERY, resumeEvery = DEFAULT_EVERY }: SweepOptions): {
  adoptMs: number;
  resumeMs: number;
} {
  return { adoptMs: interval('adoptEvery', adoptEvery), resumeMs: interval('resumeEvery', resumeEvery) };
}

function interval(name: string, given: number | string): number {
  const ms = durationMs(`sweeps.${name}`, given);
  if (ms >= LEAST_MS && ms <= MOST_MS) return ms;
  throw new MooringSetupError(
    `sweeps.${name} is at least 100ms and at most 24d; got ${JSON.stringify(given)}.`,
  );
}
