import type { MooredBackend } from '#core/parts';
import { WaitingChildrenError, type Job, type Queue } from 'bullmq';

const FIELD = 'early';

/** What the job of a parent keeps of the run that was done before its children. */
interface EarlyRun {
  readonly result?: unknown;
  /** The fence of that run. */
  readonly fence: number;
  /** The start that has completed the job in its place. */
  readonly completedAt?: number;
}

/**
 * A parent that continues when a child fails may be done before its other children. BullMQ completes it only behind them: its result
 * waits with the job, and the next start of the job completes it without another run.
 */
export class EarlyParent {
  constructor(
    private readonly queue: Queue,
    private readonly job: Job,
    private readonly token: string,
  ) {}

  static is({ opts }: Job): boolean {
    return opts.family?.onChildFailure === 'continue';
  }

  /**
   * The result of the run that was done before. The job may be back before all of its children have ended: another one has failed. A
   * worker that dies here is followed by another run.
   */
  async takeUp(): Promise<{ readonly result: unknown } | undefined> {
    const early = await readEarly(this.queue, this.job.id!);
    if (!early || early.completedAt !== undefined) return undefined;
    if (await this.job.moveToWaitingChildren(this.token)) throw new WaitingChildrenError();
    await this.note({ fence: early.fence, completedAt: this.job.attemptsStarted });
    return { result: early.result };
  }

  /** Answers if all children have ended. Otherwise the job waits for them. */
  async waitForChildren(result: unknown): Promise<void> {
    const { unprocessed = 0 } = await this.job.getDependenciesCount({ unprocessed: true });
    if (unprocessed === 0) return;
    const fence = this.job.attemptsStarted;
    await this.note({ fence, result });
    if (await this.job.moveToWaitingChildren(this.token)) throw new WaitingChildrenError();
    await this.note({ fence, completedAt: fence });
  }

  private async note(run: EarlyRun): Promise<void> {
    const args = [this.queue.toKey(this.job.id!), this.token, FIELD, JSON.stringify(run)];
    if ((await backendOf(this.queue).run('noteOfRun', args)) !== 1)
      throw new Error(`The lock of job ${this.job.id} is lost.`);
  }
}

/** The fence of the run whose result a completed job has. */
export async function fenceOfCompleted(queue: Queue, job: Job): Promise<number> {
  const early = EarlyParent.is(job) ? await readEarly(queue, job.id!) : undefined;
  return early?.completedAt === job.attemptsStarted ? early.fence : job.attemptsStarted;
}

async function readEarly(queue: Queue, jobId: string): Promise<EarlyRun | undefined> {
  const text = await (await backendOf(queue).client).hget(queue.toKey(jobId), FIELD);
  return text === null ? undefined : (JSON.parse(text) as EarlyRun);
}

function backendOf(queue: Queue): MooredBackend {
  return queue.backend as unknown as MooredBackend;
}
