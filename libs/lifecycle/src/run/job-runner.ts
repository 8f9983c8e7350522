import { Injectable } from '@nestjs/common';
import { DelayedError, type Job } from 'bullmq';
import { NoHandlerError } from '../errors.js';
import { Journal } from '../journal.js';
import { factsOf, openEnvelope, type Envelope } from '../kinds/envelope.js';
import { KindRegistry } from '../kinds/kind.registry.js';
import { LifecycleOptions } from '../options.js';
import { HandlerRegistry } from './handler.registry.js';
import { Run } from './run.js';
import { RunningJobs, ShuttingDown } from './running-jobs.js';

/** The plot of one run: open the envelope, perform, or hand the job back. */
@Injectable()
export class JobRunner {
  constructor(
    private readonly options: LifecycleOptions,
    private readonly kinds: KindRegistry,
    private readonly handlers: HandlerRegistry,
    private readonly running: RunningJobs,
    private readonly journal: Journal,
  ) {}

  async run(job: Job, token: string, signal: AbortSignal): Promise<unknown> {
    const envelope = openEnvelope(job);
    const run = new Run(job, factsOf(job), envelope);
    if (this.running.isDraining) return this.handBack(job, token, run);

    const around = this.options.worker?.around ?? justRun;
    this.running.add(run);
    const passOn = (): void => run.stop(signal.reason);
    signal.addEventListener('abort', passOn, { once: true });
    try {
      return await around(run.facts, () => this.perform(job, token, run, envelope));
    } finally {
      this.running.remove(run);
    }
  }

  private async perform(job: Job, token: string, run: Run, { body }: Envelope): Promise<unknown> {
    const handler = this.handlers.get(job.name);
    if (!handler) throw new NoHandlerError(`This worker has no handler for kind "${job.name}".`);
    const payload = this.kinds.get(job.name).payload.parse(body);

    this.journal.jobBegan(run.facts, Math.max(0, Date.now() - job.timestamp - job.delay));
    const work = handler.handle(payload, run);
    try {
      return await Promise.race([work, shutdownGraceOver(run.signal)]);
    } catch (error) {
      // Whatever a handler says after it was told that its process stops is not the job's failure.
      if (!(run.signal.reason instanceof ShuttingDown)) throw error;
      work.catch(ignoreAbandonedRun);
      return this.handBack(job, token, run);
    }
  }

  /**
   * Gives the job to another worker at no cost. It is delayed by nothing: unlike a move to the waiting jobs, that also
   * wakes a worker that sits waiting.
   */
  private async handBack(job: Job, token: string, run: Run): Promise<never> {
    await job.moveToDelayed(Date.now(), token);
    this.journal.jobHandedBack(run.facts, 'shutdown');
    throw new DelayedError();
  }
}

function justRun<T>(_facts: unknown, perform: () => Promise<T>): Promise<T> {
  return perform();
}

/** Rejects when the process stops and the handler did not end within its grace. */
function shutdownGraceOver(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const begin = (): void => {
      const { reason } = signal as { reason: unknown };
      if (reason instanceof ShuttingDown) setTimeout(reject, reason.graceMs, reason);
    };
    if (signal.aborted) begin();
    else signal.addEventListener('abort', begin, { once: true });
  });
}

function ignoreAbandonedRun(): void {
  // Its job was handed back already.
}
