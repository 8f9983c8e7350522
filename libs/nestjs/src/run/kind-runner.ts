import { Inject, Injectable, Logger } from '@nestjs/common';
import { DelayedError, WaitingChildrenError, type Job } from 'bullmq';
import { QueueRegistry } from '../enqueue/queue-registry.js';
import { checkChildren } from '../flows/children.js';
import { EarlyParent } from '../flows/early-parent.js';
import { KindRegistry } from '../kinds/kind-registry.js';
import { readPayload } from '../kinds/payload-schema.js';
import { MOORING_OPTIONS, type MooringOptions } from '../options.js';
import { HandlerRegistry } from './handler-registry.js';
import { Run } from './run.js';
import { SnoozeJob } from './snooze-job.js';

/** When a job is looked at again that this worker cannot do. Another worker may know how. */
const NOT_HERE_MS = 30_000;

/** Runs jobs of kinds: finds the handler, reads the payload, calls it. */
@Injectable()
export class KindRunner {
  private readonly logger = new Logger('mooring');
  private readonly artifacts: MooringOptions['artifacts'];

  constructor(
    private readonly kinds: KindRegistry,
    private readonly handlers: HandlerRegistry,
    private readonly queues: QueueRegistry,
    @Inject(MOORING_OPTIONS) { artifacts }: MooringOptions,
  ) {
    this.artifacts = artifacts;
  }

  async run(job: Job, token: string, signal: AbortSignal): Promise<unknown> {
    const kind = this.kinds.find(job.name);
    const handler = await this.handlers.get(job.name);
    if (!kind || !handler) return this.snooze(job, token, new SnoozeJob('no handler here', NOT_HERE_MS));
    const read = await readPayload(kind.payload, job.data);
    if ('problems' in read)
      return this.snooze(
        job,
        token,
        new SnoozeJob(`its payload cannot be read here: ${read.problems}`, NOT_HERE_MS),
      );
    const run = new Run(job, signal, kind.artifacts ? this.artifacts : undefined);
    try {
      const result = await this.perform(job, token, () => handler.handle(read.payload, run));
      await run.artifacts.end(true);
      return result;
    } catch (error) {
      await run.artifacts.end(error instanceof WaitingChildrenError);
      if (error instanceof SnoozeJob) return this.snooze(job, token, error);
      throw error;
    }
  }

  private async perform(job: Job, token: string, handle: () => Promise<unknown>): Promise<unknown> {
    await checkChildren(job);
    if (!EarlyParent.is(job)) return handle();
    const parent = new EarlyParent(this.queues.get(job.queueName), job, token);
    const earlier = await parent.takeUp();
    if (earlier) return earlier.result;
    const result = await handle();
    await parent.waitForChildren(result);
    return result;
  }

  /** The job keeps its attempts. To fail what an older worker does not understand would lose it. */
  private async snooze(job: Job, token: string, { why, forMs }: SnoozeJob): Promise<never> {
    this.logger.warn(
      `Job ${job.id} (${job.name}) of queue ${job.queueName} is put off for ${forMs} ms: ${why}`,
    );
    await job.moveToDelayed(Date.now() + forMs, token);
    throw new DelayedError();
  }
}
