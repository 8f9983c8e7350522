import { MooredWorker, type MooredWorkerOptions } from '#core';
import { RunHandedBack, type MooredBackend } from '#core/parts';
import type { Job, Processor } from 'bullmq';
import { backoffMs } from '../kinds/backoff.js';
import { limitsOfKind } from '../kinds/limits.js';
import { optionsOfStartingQueue } from './starting-application.js';

type Failed = Parameters<MooredWorker['handleFailed']>;

/** The worker that BullModule makes, with the options that `forQueue` has for its queue. Those of `@Processor` win. */
export class RegisteredWorker extends MooredWorker {
  /** A run was told to stop by the end of this process, and its job waits for another one. */
  onHandedBack: (job: Job) => void = () => undefined;

  constructor(name: string, processor: Processor | string | URL | null, opts: MooredWorkerOptions) {
    const ofKinds = { limitsOf: limitsOfKind, settings: { backoffStrategy: backoffMs } };
    super(name, processor, { ...ofKinds, ...optionsOfStartingQueue(name), ...opts });
  }

  protected override async handleFailed(...args: Failed): Promise<Job> {
    const [cause, job, token] = args;
    if (cause.name === 'SkipJob') return this.skip(job, token, (cause as Error & { why: string }).why);
    const next = await super.handleFailed(...args);
    if (cause instanceof RunHandedBack) this.onHandedBack(job);
    return next;
  }

  /** The worker fetches the next job by itself. */
  private async skip({ id }: Job, token: string, why: string): Promise<never> {
    const backend = this.backend as unknown as MooredBackend;
    this.emit('refused', { id: id!, reason: await backend.endUnkept(id!, token, 'skipped', why) });
    return undefined as never;
  }
}
