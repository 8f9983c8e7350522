import { Injectable } from '@nestjs/common';
import type { Readable } from 'node:stream';
import type { Artifact, ArtifactRange } from '../artifacts/job.artifacts.js';
import { LifecycleError, StoreUnavailableError } from '../errors.js';
import { LifecycleOptions } from '../options.js';
import { Store } from '../store.js';

/** What jobs have left behind, for who asks. Somebody waits: what does not answer in time is unavailable. */
@Injectable()
export class ArtifactReader {
  constructor(
    private readonly options: LifecycleOptions,
    private readonly store: Store,
  ) {}

  async list(jobId: string): Promise<readonly Artifact[]> {
    const { artifacts } = this.options;
    return artifacts ? this.store.call(() => artifacts.list(jobId)) : [];
  }

  /** Its bytes; `undefined` when they are gone. */
  async open(jobId: string, name: string, range?: ArtifactRange): Promise<Readable | undefined> {
    const opening = this.options.artifacts?.open(jobId, name, range);
    if (!opening) return undefined;
    try {
      return (await this.store.call(() => opening))?.bytes;
    } catch (error) {
      // Should it come yet, nobody reads it.
      opening.then(
        (late) => late?.bytes.destroy(),
        () => undefined,
      );
      if (error instanceof LifecycleError) throw error;
      throw new StoreUnavailableError('The bytes of artifacts cannot be reached.', undefined, {
        cause: error,
      });
    }
  }
}
