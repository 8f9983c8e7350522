import { createHash } from 'node:crypto';
import { ArtifactError } from '../artifact-error.js';
import type { Chunks, Written } from './byte-store.js';

/** Passes bytes through, computes their size and digest, and throws above a limit. */
export class Measured {
  private readonly hash = createHash('sha256');
  private size = 0;

  constructor(private readonly most: number) {}

  async *through(bytes: Chunks): AsyncGenerator<Uint8Array> {
    for await (const chunk of bytes) {
      if (!(chunk instanceof Uint8Array))
        throw new ArtifactError('INVALID', 'An artifact must be a string, bytes, or a stream of bytes.');
      this.size += chunk.byteLength;
      if (this.size > this.most)
        throw new ArtifactError('TOO_LARGE', `The artifact has more than ${this.most} bytes, its limit.`);
      this.hash.update(chunk);
      yield chunk;
    }
  }

  written(): Written {
    return { size: this.size, sha256: this.hash.digest('hex') };
  }
}
