import type { FlowJobEntry, JobJson, ParentKeyOpts } from 'bullmq';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { InvalidJobError } from '../model/errors.js';
import type { JobLimits } from '../model/job-limits.js';
import { addRequestOf } from './add-request.js';
import { Batch } from './batch.js';
import { newJobId } from './job-id.js';
import type { OwnedOptions } from './owned-options.js';
import { stepArguments, type Argument, type StepItem } from './step-arguments.js';
import { addError, ticketOf, type AddAnswer, type Ticket } from './ticket.js';

const MOST_IN_ONE_STEP = 50;
const PACE = { most: MOST_IN_ONE_STEP, mostOfSlow: MOST_IN_ONE_STEP, stepsUnderWay: Infinity };

/** A job as BullMQ's backend takes it; without an id it gets one. */
export interface NewJob {
  readonly job: JobJson;
  readonly jobId: string | undefined;
  readonly parentKeyOpts?: ParentKeyOpts;
}

export interface AddsOptions {
  readonly queue: string;
  readonly prefix: string;
  readonly root: string;
  readonly limits: JobLimits | undefined;
  /** Runs `add.lua`. */
  readonly run: (args: Argument[]) => Promise<unknown>;
}

/** Brings the jobs of owners to the store: those of one turn of the event loop together. */
export class Adds {
  private readonly batch = new Batch<StepItem, AddAnswer>(PACE, (requests) => this.step('each', requests));

  constructor(private readonly options: AddsOptions) {}

  async one(
    job: JobJson,
    jobId: string | undefined,
    owned: OwnedOptions,
    parent: ParentKeyOpts = {},
  ): Promise<Ticket> {
    const { prefix, queue } = this.options;
    const id = jobId || newJobId();
    return ticketOf(id, await this.batch.add(addRequestOf(job, id, prefix, owned, parent)), queue);
  }

  /** A job that is refused, or a step that fails, leaves the others alone. The store begins with the first ones while the next are written. */
  async many(
    jobs: readonly NewJob[],
    owned: readonly OwnedOptions[],
  ): Promise<PromiseSettledResult<Ticket>[]> {
    const { prefix, queue } = this.options;
    const ids = jobs.map(({ jobId }) => jobId || newJobId());
    const request = ({ job, parentKeyOpts = {} }: NewJob, i: number): StepItem =>
      addRequestOf(job, ids[i]!, prefix, owned[i], parentKeyOpts);
    const steps: Promise<PromiseSettledResult<Ticket>[]>[] = [];
    for (let from = 0; from < jobs.length; from += MOST_IN_ONE_STEP) {
      const some = jobs.slice(from, from + MOST_IN_ONE_STEP);
      const requests = some.map((job, i) => request(job, from + i));
      const step = this.step('each', requests);
      steps.push(
        Promise.allSettled(some.map(async (_, i) => ticketOf(ids[from + i]!, (await step)[i]!, queue))),
      );
      await nextTurn();
    }
    return (await Promise.all(steps)).flat();
  }

  /** All or none. */
  async flow(
    entries: readonly FlowJobEntry[],
    owned: readonly (OwnedOptions | undefined)[],
  ): Promise<Ticket[]> {
    const { root } = this.options;
    if (entries.some(({ prefix }, i) => owned[i] && prefix !== root))
      throw new InvalidJobError(`The jobs of owners in a flow have the prefix "${root}" of its producer.`);
    const requests = entries.map(({ jobData, jobId, parentKeyOpts, prefix, queueName }, i) =>
      addRequestOf(jobData, jobId, `${prefix}:${queueName}:`, owned[i], {
        ...parentKeyOpts,
        deferParentRelease: true,
      }),
    );
    const answers = await this.step('all', requests);
    // A flow that is refused has one answer: why.
    return answers.map((answer, i) => ticketOf(entries[i]!.jobId, answer, entries[i]!.queueName));
  }

  private async step(mode: 'each' | 'all', requests: readonly StepItem[]): Promise<AddAnswer[]> {
    const { prefix, root, limits = {}, run } = this.options;
    const head = [`${prefix}marker`, root, mode, limits.perOwner ?? '', limits.perQueue ?? ''];
    try {
      return (await run(stepArguments(head, requests))) as AddAnswer[];
    } catch (error) {
      throw addError(error as Error);
    }
  }
}
