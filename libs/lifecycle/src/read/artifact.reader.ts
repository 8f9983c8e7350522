import { Injectable } from '@nestjs/common';
import type { Readable } from 'node:stream';
import type { Artifact, ArtifactRange } from '../artifacts/job.artifacts.js';
import { ArtifactUnavailableError, StoreUnavailableError } from '../errors.js';
import { Journal } from '../journal.js';
import { LifecycleOptions } from '../options.js';
import { Store } from '../store.js';

/** How long whoever wants the bytes waits until the first of them come. */
const OPEN_MS = 5_000;

/** What jobs have left behind, for who asks. Somebody waits: what does not answer in time is unavailable. */
@Injectable()
export class ArtifactReader {
  constructor(
    private readonly options: LifecycleOptions,
    private readonly store: Store,
    private readonly journal: Journal,
  ) {}

  async list(jobId: string): Promise<readonly Artifact[]> {
    const { artifacts } = this.options;
    return artifacts ? this.store.call(() => artifacts.list(jobId)) : [];
  }

  /** Its bytes; `undefined` when it is gone. */
  async open(jobId: string, name: string, range?: ArtifactRange): Promise<Readable | undefined> {
    const bytes = await this.openNow(jobId, name, range);
    if (bytes || !(await this.list(jobId)).some((each) => each.name === name)) return bytes;
    // It was not removed in between: then it would not be listed.
    this.journal.artifactMissing(jobId, name);
    throw new ArtifactUnavailableError(name);
  }

  private async openNow(jobId: string, name: string, range?: ArtifactRange): Promise<Readable | undefined> {
    const opening = this.options.artifacts?.open(jobId, name, range);
    if (!opening) return undefined;
    try {
      return (await withinLimit(opening))?.bytes;
    } catch (error) {
      // Should it come yet, nobody reads it.
      opening.then(
        (late) => late?.bytes.destroy(),
        () => undefined,
      );
      throw new StoreUnavailableError('The bytes of artifacts cannot be reached.', undefined, {
        cause: error,
      });
    }
  }
}

/** Bytes have a store of their own. However slow that is, no call of the other one is refused for it. */
function withinLimit<T>(opening: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new Error(`They could not be opened within ${OPEN_MS} ms.`)),
      OPEN_MS,
    );
    opening.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
