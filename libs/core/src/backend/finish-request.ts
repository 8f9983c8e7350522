import type { KeepJobs, MinimalJob, WorkerOptions } from 'bullmq';
import { MooredJob } from './moored-job.js';
import { Template, type Argument, type StepItem } from './step-arguments.js';

const MOST_TEMPLATES = 100;

/** How a run ended, as BullMQ's backend is told. */
export interface End {
  readonly job: MinimalJob;
  readonly result: Argument;
  readonly property: string;
  readonly target: string;
  readonly token: string;
  readonly timestamp: number;
  readonly fetchesNext: boolean;
  readonly keepJobs: KeepJobs;
  /** Further fields of the job. */
  readonly fields: Readonly<Record<string, unknown>> | undefined;
}

/** Makes of the end of a run what `finish.lua` takes. Most runs of a worker end alike: their templates are kept. */
export class FinishRequests {
  private readonly templates = new Map<string, Template>();

  constructor(private readonly worker: Partial<WorkerOptions>) {}

  of(end: End): StepItem {
    const { job, result, token, timestamp, fields } = end;
    const own: Argument[] = [job.id!, timestamp, result, token, MooredJob.markOf(job)];
    if (fields) own.push(JSON.stringify(Object.entries(fields).filter(isGiven).flat()));
    return { template: this.templateOf(end), own };
  }

  private templateOf(end: End): Template {
    const { target, fetchesNext, fields, job } = end;
    const keepJobs: { count?: number; age?: number; limit?: number } = end.keepJobs;
    const parents = parentOptions(job);
    const key = `${target} ${fetchesNext} ${keepJobs.count} ${keepJobs.age} ${keepJobs.limit} ${job.opts.attempts} ${parents} ${!fields}`;
    let template = this.templates.get(key);
    if (!template) {
      if (this.templates.size === MOST_TEMPLATES) this.templates.clear();
      template = new Template([
        target,
        end.property,
        fetchesNext ? '1' : '0',
        this.optionsOf(end),
        fields ? '1' : '',
      ]);
      this.templates.set(key, template);
    }
    return template;
  }

  /** What BullMQ's `moveToFinished` takes as options, but for the token. */
  private optionsOf({ job: { opts }, keepJobs }: End): string {
    const { name, limiter, lockDuration, metrics } = this.worker;
    return JSON.stringify({
      name,
      keepJobs,
      limiter,
      // A text is what the command takes: Lua is slow at writing numbers.
      lockDuration: String(lockDuration),
      attempts: opts.attempts,
      maxMetricsSize: metrics?.maxDataPoints || '',
      fpof: Boolean(opts.failParentOnFailure),
      cpof: Boolean(opts.continueParentOnFailure),
      idof: Boolean(opts.ignoreDependencyOnFailure),
      rdof: Boolean(opts.removeDependencyOnFailure),
    });
  }
}

/** What of a child's options says what its failure means to its parent. */
function parentOptions({ opts }: MinimalJob): string {
  return `${opts.failParentOnFailure} ${opts.continueParentOnFailure} ${opts.ignoreDependencyOnFailure} ${opts.removeDependencyOnFailure}`;
}

function isGiven([, value]: [string, unknown]): boolean {
  return value !== undefined && value !== null;
}
