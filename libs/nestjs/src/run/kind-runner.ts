import type { RunStop } from '#core/parts';
import { Inject, Injectable } from '@nestjs/common';
import { WaitingChildrenError, type Job } from 'bullmq';
import { QueueRegistry } from '../enqueue/queue-registry.js';
import { checkChildren } from '../flows/children.js';
import { EarlyParent } from '../flows/early-parent.js';
import { JobLog } from '../history/job-log.js';
import { factsOf, type JobFacts } from '../journal/fact.js';
import { Journal } from '../journal/journal.js';
import type { Kind } from '../kinds/kind.js';
import { MOORING_OPTIONS, type MooringOptions } from '../options.js';
import { RunTimedOut } from './run-timed-out.js';
import { RunPreparation, type PreparedRun } from './run-preparation.js';
import { Run, type RunReports } from './run.js';
import { RunningJobs } from './running-jobs.js';
import { SkipJob } from './skip-job.js';
import { SnoozeJob } from './snooze-job.js';
import { Snoozer } from './snoozer.js';

/** Runs jobs of kinds, and says what their errors mean. */
@Injectable()
export class KindRunner {
  private readonly reports = new WeakMap<Kind, RunReports>();

  constructor(
    @Inject(MOORING_OPTIONS) private readonly options: MooringOptions,
    private readonly preparation: RunPreparation,
    private readonly queues: QueueRegistry,
    private readonly running: RunningJobs,
    private readonly log: JobLog,
    private readonly journal: Journal,
    private readonly snoozer: Snoozer,
  ) {}

  async run(job: Job, token: string, stop: RunStop): Promise<unknown> {
    this.running.takenAt.set(job.queueName, Date.now());
    const facts = factsOf(job);
    const parent = this.earlyParentOf(job, token);
    if (parent) {
      const earlier = await parent.takeUp();
      if (earlier) return earlier.result;
    }
    if (job.opts.family) await checkChildren(job);
    const around = this.options.worker?.around;
    const perform = (): Promise<unknown> => this.perform(job, stop, facts, parent);
    try {
      return await (around ? around(facts, perform) : perform());
    } catch (error) {
      if (error instanceof WaitingChildrenError)
        this.log.writeRetrying(job, 'its children have not all ended');
      if (error instanceof SnoozeJob) return this.snoozer.snooze(job, token, facts, error);
      throw isOverTime(stop, error)
        ? new RunTimedOut(this.preparation.timeoutOf(job.name), { cause: error })
        : error;
    }
  }

  private reportsOf(kind: Kind): RunReports {
    let reports = this.reports.get(kind);
    if (!reports) {
      reports = {
        log: ({ queueName, id }, level, text) =>
          this.log.write(queueName, id!, { at: Date.now(), level, text }),
        failed: (error) => this.journal.trouble(`The progress of ${kind.name}`, error),
        artifacts: kind.artifacts ? this.options.artifacts : undefined,
      };
      this.reports.set(kind, reports);
    }
    return reports;
  }

  private async perform(
    job: Job,
    stop: RunStop,
    facts: JobFacts,
    parent: EarlyParent | undefined,
  ): Promise<unknown> {
    const prepared = await this.preparation.prepare(job);
    const run = new Run(job, stop, this.reportsOf(prepared.kind));
    const shown = { ...facts, attempt: run.attempt, since: Date.now() };
    this.running.runs.add(shown);
    this.journal.tell({ event: 'job.began', ...facts, attempt: run.attempt, ...waitedMs(job) });
    try {
      return await handle(run, prepared, parent);
    } finally {
      run.end();
      this.running.runs.delete(shown);
    }
  }

  private earlyParentOf(job: Job, token: string): EarlyParent | undefined {
    return EarlyParent.is(job) ? new EarlyParent(this.queues.get(job.queueName), job, token) : undefined;
  }
}

async function handle(
  run: Run,
  { handler, payload }: PreparedRun,
  parent: EarlyParent | undefined,
): Promise<unknown> {
  try {
    const result = await handler.handle(payload, run);
    if (parent) await parent.waitForChildren(result);
    await run.artifacts.end(true);
    return result;
  } catch (error) {
    await run.artifacts.end(error instanceof WaitingChildrenError);
    throw error;
  }
}

/** A handler that is told to stop may fail as it likes. */
function isOverTime({ stopped }: RunStop, error: unknown): boolean {
  return stopped === 'timeout' && !(error instanceof SkipJob);
}

/** Since the job was due. BullMQ does not say when one became due that was tried before, or whose children had ended. */
function waitedMs({ attemptsStarted, timestamp, opts, processedOn = 0, parent }: Job): { waitedMs?: number } {
  if (attemptsStarted > 1 || parent) return {};
  return { waitedMs: Math.max(0, processedOn - timestamp - (opts.delay ?? 0)) };
}
