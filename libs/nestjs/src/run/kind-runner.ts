import { Inject, Injectable, Optional } from '@nestjs/common';
import { DelayedError, type Job } from 'bullmq';
import { JobLog } from '../history/job-log.js';
import { factsOf, type JobFacts } from '../journal/fact.js';
import { Journal } from '../journal/journal.js';
import { KindRegistry } from '../kinds/kind-registry.js';
import type { Kind } from '../kinds/kind.js';
import { readPayload } from '../kinds/payload-schema.js';
import { MOORING_OPTIONS, type MooringOptions } from '../options.js';
import { HandlerRegistry } from './handler-registry.js';
import { RunTimedOut } from './run-timed-out.js';
import { RunningJobs } from './running-jobs.js';
import { Run } from './run.js';
import { SkipJob } from './skip-job.js';
import { SnoozeJob } from './snooze-job.js';
import { StartCheck, type ChecksOwner } from './start-check.js';
import { Waker } from './waker.js';

/** When a job is looked at again that this worker cannot do. Another worker may know how. */
const NOT_HERE_MS = 30_000;

/** Runs jobs of kinds: finds the handler, reads the payload, calls it, and says what its errors mean. */
@Injectable()
export class KindRunner {
  private readonly around: NonNullable<MooringOptions['worker']>['around'];

  constructor(
    @Inject(MOORING_OPTIONS) { worker }: MooringOptions,
    private readonly kinds: KindRegistry,
    private readonly handlers: HandlerRegistry,
    private readonly running: RunningJobs,
    private readonly log: JobLog,
    private readonly journal: Journal,
    private readonly waker: Waker,
    @Optional() @Inject(StartCheck) private readonly startCheck?: StartCheck,
  ) {
    this.around = worker?.around;
  }

  async run(job: Job, token: string, signal: AbortSignal): Promise<unknown> {
    this.running.takenAt.set(job.queueName, Date.now());
    const facts = factsOf(job);
    const perform = (): Promise<unknown> => this.perform(job, facts, signal);
    try {
      return await (this.around ? this.around(facts, perform) : perform());
    } catch (error) {
      if (error instanceof SnoozeJob) return this.snooze(job, token, facts, error);
      throw isOverTime(signal, error)
        ? new RunTimedOut(this.kinds.get(job.name).timeoutMs, { cause: error })
        : error;
    }
  }

  private async perform(job: Job, facts: JobFacts, signal: AbortSignal): Promise<unknown> {
    const kind = this.kinds.find(job.name);
    const handler = await this.handlers.get(job.name);
    if (!kind || !handler) throw new SnoozeJob('no handler here', NOT_HERE_MS);
    await this.checkOwners(kind, job);
    const read = await readPayload(kind.payload, job.data);
    // To fail what an older worker does not understand would lose it.
    if ('problems' in read)
      throw new SnoozeJob(`its payload cannot be read here: ${read.problems}`, NOT_HERE_MS);

    const run = new Run(job, signal, {
      log: (level, text) => this.log.write(job.queueName, job.id!, { at: Date.now(), level, text }),
      failed: (error) => this.journal.trouble(`The progress of ${kind.name}`, error),
    });
    const known = { ...facts, attempt: run.attempt, since: Date.now() };
    this.running.runs.add(known);
    this.journal.tell({ event: 'job.began', ...facts, attempt: run.attempt, ...waitedMs(job) });
    try {
      return await handler.handle(read.payload, run);
    } finally {
      run.end();
      this.running.runs.delete(known);
    }
  }

  private async checkOwners(kind: Kind & ChecksOwner, { opts }: Job): Promise<void> {
    if (!this.startCheck || kind.checkOwner !== 'start') return;
    const life = await this.startCheck.ask((opts.owners ?? []) as string[]);
    if (life === 'gone') throw new SkipJob('its owner is gone');
    if (life === 'unknown' && kind.onUnknownOwner === 'wait')
      throw new SnoozeJob('owner not known to live', NOT_HERE_MS);
  }

  /** The job keeps its attempts. */
  private async snooze(
    job: Job,
    token: string,
    facts: JobFacts,
    { why, forMs, isOver }: SnoozeJob,
  ): Promise<never> {
    await job.moveToDelayed(Date.now() + forMs, token);
    this.journal.tell({ event: 'job.put-off', ...facts, why, forMs });
    const attempt = job.attemptsMade + 1;
    this.log.write(facts.queue, facts.jobId, {
      at: Date.now(),
      event: 'retrying',
      attempt,
      why,
      beganAt: job.processedOn!,
    });
    try {
      if (await isOver()) await this.waker.wake(facts.queue, facts.jobId);
    } catch (error) {
      // The job is looked at again when its delay is over.
      this.journal.trouble(`A snoozed job of queue ${facts.queue}`, error);
    }
    throw new DelayedError();
  }
}

/** A handler that is told to stop may fail as it likes. */
function isOverTime(signal: AbortSignal, error: unknown): boolean {
  return signal.aborted && signal.reason === 'timeout' && !(error instanceof SkipJob);
}

/** Since the job was due. BullMQ does not say when one became due that was tried before, or whose children had ended. */
function waitedMs({ attemptsStarted, timestamp, opts, processedOn = 0, parent }: Job): { waitedMs?: number } {
  if (attemptsStarted > 1 || parent) return {};
  return { waitedMs: Math.max(0, processedOn - timestamp - (opts.delay ?? 0)) };
}
