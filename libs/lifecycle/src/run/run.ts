import { Logger } from '@nestjs/common';
import type { Job } from 'bullmq';
import type { JobArtifacts } from '../artifacts/job.artifacts.js';
import { RunArtifacts } from '../artifacts/run.artifacts.js';
import { readChildren, type ChildOutcome } from '../flows/children.js';
import { factsOf, type Envelope } from '../kinds/envelope.js';
import type { JobFacts } from '../kinds/job-facts.js';
import type { Kind } from '../kinds/kind.js';
import { parseOwner, type Owner } from '../kinds/owner.js';
import { Progress } from './progress.js';
import { OwnerCancelled, RunLost } from './stop-reasons.js';

/** What a handler is given beside its payload: which run this is, and what it may do to it. */
export class Run {
  readonly facts: JobFacts;
  /** 1 for the first attempt. A run that was handed back or lost its worker did not use one up. */
  readonly attempt: number;
  private stopping: AbortController | undefined;
  private reason: unknown;
  private told: ((reason: unknown) => void) | undefined;
  private logger: Logger | undefined;
  private ownFence: string | undefined;
  private progressed: Progress | undefined;
  private isAbandoned = false;
  private isOver = false;
  private leaves: RunArtifacts | undefined;

  constructor(
    private readonly job: Job,
    readonly kind: Kind,
    /** @internal */ readonly envelope: Envelope,
    /** @internal Keys of its owners' records. */ readonly records: readonly string[],
    /** @internal Names this run among all runs of its job. */ readonly token: string,
    private readonly failed: (queue: string, error: unknown) => void,
    private readonly kept?: JobArtifacts,
  ) {
    this.facts = factsOf(job);
    this.attempt = job.attemptsMade + 1;
  }

  get id(): string {
    return this.facts.jobId;
  }

  /** @internal */
  get jobId(): string {
    return this.facts.jobId;
  }

  get owners(): readonly Owner[] {
    return this.envelope.o.map(parseOwner);
  }

  /** Grows with every run of an owner's jobs. A system outside that keeps the highest it saw can refuse an overtaken run. */
  get fence(): string {
    return this.ownFence ?? '0';
  }

  /** What became of this job's children, if it is the parent of a flow, in the order in which they were named. */
  children(): Promise<readonly ChildOutcome[]> {
    return readChildren(this.job);
  }

  get log(): Logger {
    return (this.logger ??= new Logger(this.facts.kind));
  }

  /** Aborts when the run should stop; its `reason` says why. */
  get signal(): AbortSignal {
    if (!this.stopping) {
      this.stopping = new AbortController();
      if (this.reason !== undefined) this.stopping.abort(this.reason);
    }
    return this.stopping.signal;
  }

  /**
   * Tells whoever reads the job how far it is: a number or any small JSON value. It never fails, and waits for the store a
   * second at most. Of an abandoned run nobody wants to know.
   */
  progress(value: number | string | object): Promise<void> {
    this.progressed ??= new Progress(
      (news) => this.job.updateProgress(news as object),
      (error) => this.failed(this.facts.queue, error),
    );
    return this.isOver ? Promise.resolve() : this.progressed.report(value);
  }

  /** What it leaves behind. It goes with the job: nothing of it stays longer. */
  get artifacts(): RunArtifacts {
    const { jobId, fence } = this;
    return (this.leaves ??= new RunArtifacts(
      this.kept,
      () => ({ jobId, fence }),
      () => this.checkWanted(),
    ));
  }

  /** @internal */
  get hasArtifacts(): boolean {
    return this.leaves?.isThere ?? false;
  }

  /** @internal */
  get hasBegun(): boolean {
    return this.ownFence !== undefined;
  }

  /** @internal */
  begin(fence: string): void {
    this.ownFence = fence;
  }

  /** @internal Whatever its handler still does, if it was abandoned, does not count. */
  end(): void {
    this.isOver = true;
    this.progressed?.stop();
  }

  /** @internal Its handler was told to stop and did not, in all the time it had. */
  abandon(): void {
    this.isAbandoned = true;
  }

  /** @internal */
  get wasAbandoned(): boolean {
    return this.isAbandoned;
  }

  /** @internal Why it was told to stop, if it was. */
  get stopReason(): unknown {
    return this.reason;
  }

  /** @internal The first reason counts; who is told of it need not have asked for the signal, which most never do. */
  stop(reason: unknown): void {
    if (this.reason !== undefined) return;
    this.reason = reason;
    this.stopping?.abort(reason);
    this.told?.(reason);
  }

  /** What a cancelled or overtaken run makes would never be seen. */
  private checkWanted(): void {
    if (this.reason instanceof RunLost || this.reason instanceof OwnerCancelled) throw this.reason;
    if (this.isOver) throw new RunLost('it has ended');
  }

  /** @internal */
  whenStopped(tell: (reason: unknown) => void): void {
    this.told = tell;
    if (this.reason !== undefined) tell(this.reason);
  }
}
