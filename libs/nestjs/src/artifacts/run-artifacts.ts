import type { RunStop } from '#core/parts';
import { Logger } from '@nestjs/common';
import type { Job } from 'bullmq';
import { NoArtifactStoreError, RunOverError } from '../errors.js';
import { artifactsIdOf } from '../kinds/job-ids.js';
import type { Artifact, ArtifactBytes, ArtifactOptions, ArtifactStore } from './artifact-store.js';

const UNWANTED: readonly unknown[] = ['cancelled', 'lost'];

/**
 * What one run leaves behind. A job shows the artifacts of the run that completed it: their fence is how often the job was started, which
 * BullMQ keeps, so they count in the step in which the result does. A run that does not complete its job takes its own with it, before
 * the job is ended or cancelled.
 */
export class RunArtifacts {
  private readonly made: Artifact[] = [];
  private hasTried = false;
  private isOver = false;

  constructor(
    private readonly job: Job,
    private readonly stop: RunStop,
    /** Nothing where the kind, or the application, keeps none. */
    private readonly store: Pick<ArtifactStore, 'put' | 'removeRun'> | undefined,
  ) {}

  /** Of two of one name the later counts. A stream is read only as long as the run counts. */
  async put(name: string, bytes: ArtifactBytes, options: ArtifactOptions = {}): Promise<Artifact> {
    if (!this.store) throw new NoArtifactStoreError(this.job.name);
    this.check();
    this.hasTried = true;
    const given = typeof bytes === 'string' || bytes instanceof Uint8Array ? bytes : this.whileWanted(bytes);
    const artifact = await this.store.put({ ...this.maker, check: () => this.check() }, name, given, options);
    this.check();
    this.made.push(artifact);
    return artifact;
  }

  /** What this run has put so far. */
  list(): readonly Artifact[] {
    return [...this.made];
  }

  /**
   * @internal The run puts nothing more. What it made goes unless its result may count. What cannot be removed now, and that of a run
   * whose job is cancelled just when it ends, is found by the sweep of artifacts.
   */
  end(mayCount: boolean): Promise<void> | undefined {
    this.isOver = true;
    if (!this.hasTried || (mayCount && !this.isUnwanted)) return undefined;
    const { jobId, fence } = this.maker;
    return this.store!.removeRun(jobId, fence).catch((error: Error) =>
      new Logger('mooring').warn(
        `Artifacts of job ${this.job.id} stay until the next sweep: ${error.message}`,
      ),
    );
  }

  private get isUnwanted(): boolean {
    return UNWANTED.includes(this.stop.stopped);
  }

  private get maker(): { readonly jobId: string; readonly fence: string } {
    return { jobId: artifactsIdOf(this.job.id!), fence: String(this.job.attemptsStarted) };
  }

  private check(): void {
    if (this.isUnwanted) throw new RunOverError(String(this.stop.stopped));
    if (this.isOver) throw new RunOverError('ended');
  }

  private async *whileWanted(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of bytes) {
      this.check();
      yield chunk;
    }
  }
}
