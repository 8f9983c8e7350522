import { MooredWorker, type MooredWorkerOptions } from '#core';
import { RunHandedBack, type MooredBackend } from '#core/parts';
import type { Job, Processor } from 'bullmq';
import { setTimeout as pause } from 'node:timers/promises';
import { backoffMs } from '../kinds/backoff.js';
import { limitsOfKind } from '../kinds/limits.js';
import { startingApplication } from './starting-application.js';

type Failed = Parameters<MooredWorker['handleFailed']>;

/** Of the time for the shutdown: the part in which runs may end, and the part in which they have to stop. */
const SHARE_FOR_ENDING = 0.6;
const SHARE_FOR_STOPPING = 0.2;

/** The worker that BullModule makes, with the options that its application has for its queue. Those of `@Processor` win. */
export class RegisteredWorker extends MooredWorker {
  /** Whether `@Processor` says when the worker runs. */
  readonly runsByItself: boolean;
  /** A run was told to stop by the end of this process, and its job waits for another one. */
  onHandedBack: (job: Job) => void = () => undefined;

  constructor(name: string, processor: Processor | string | URL | null, opts: MooredWorkerOptions) {
    const ofKinds = { limitsOf: limitsOfKind, settings: { backoffStrategy: backoffMs } };
    const application = startingApplication();
    super(name, processor, { ...ofKinds, ...application?.optionsOf(name), ...opts });
    this.runsByItself = opts.autorun !== undefined;
    application?.add(this);
  }

  /** Like `shutdown`, but it also ends when a store that is away keeps the worker from closing. */
  async shutdownWithin(ms: number): Promise<void> {
    const limits = { finishWithin: ms * SHARE_FOR_ENDING, stopWithin: ms * SHARE_FOR_STOPPING };
    const closed = this.shutdown(limits).then(
      () => true,
      () => true,
    );
    if (await Promise.race([closed, pause(ms, false, { ref: false })])) return;
    await Promise.race([this.disconnect().catch(() => undefined), pause(1_000)]);
    // BullModule closes its workers later, and would wait for this one.
    this.closing = Promise.resolve();
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
