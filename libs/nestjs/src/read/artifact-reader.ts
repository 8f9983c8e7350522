import { Injectable, Optional } from '@nestjs/common';
import type { Readable } from 'node:stream';
import type { Artifact, ArtifactRange } from '../artifacts/artifact-store.js';
import { CommittedArtifacts } from '../artifacts/committed-artifacts.js';
import { Journal } from '../journal/journal.js';
import { ArtifactUnavailableError, StoreUnavailableError } from '../errors.js';

const OPENS_WITHIN_MS = 5_000;

/** Reads what jobs have left behind. Without a store of artifacts there is nothing to read. */
@Injectable()
export class ArtifactReader {
  constructor(
    private readonly artifacts: CommittedArtifacts,
    private readonly journal: Journal,
    @Optional() private readonly opensWithinMs = OPENS_WITHIN_MS,
  ) {}

  async list(jobId: string): Promise<readonly Artifact[]> {
    return this.artifacts.list(jobId);
  }

  /** Undefined if the job has no such artifact. */
  async open(jobId: string, name: string, range?: ArtifactRange): Promise<Readable | undefined> {
    const bytes = await this.openInTime(jobId, name, range);
    // An artifact that was removed meanwhile is no longer listed.
    if (bytes || !(await this.list(jobId)).some((each) => each.name === name)) return bytes;
    this.journal.trouble(`Artifact ${name} of job ${jobId}`, 'its bytes are missing');
    throw new ArtifactUnavailableError(name);
  }

  private async openInTime(
    jobId: string,
    name: string,
    range?: ArtifactRange,
  ): Promise<Readable | undefined> {
    const opening = this.artifacts.open(jobId, name, range);
    try {
      return (await within(this.opensWithinMs, opening))?.bytes;
    } catch (error) {
      // Bytes that come too late have no reader.
      opening.then((late) => late?.bytes.destroy()).catch(() => undefined);
      throw new StoreUnavailableError('The bytes of artifacts cannot be reached.', { cause: error });
    }
  }
}

function within<T>(ms: number, opening: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const late = new Error(`They could not be opened within ${ms} ms.`);
    const timer = setTimeout(() => reject(late), ms);
    opening.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
