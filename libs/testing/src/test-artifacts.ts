import type { Artifact, ArtifactBytes, ArtifactOptions, ArtifactStore } from '#nestjs';
import { createHash } from 'node:crypto';

/** Keeps the artifacts of one run in memory. */
export class TestArtifacts implements Pick<ArtifactStore, 'put' | 'removeRun'> {
  readonly kept = new Map<string, Buffer>();

  async put(
    _maker: object,
    name: string,
    bytes: ArtifactBytes,
    { contentType = 'application/octet-stream', maxBytes = Infinity }: ArtifactOptions = {},
  ): Promise<Artifact> {
    const all = await bufferOf(bytes);
    if (all.length > maxBytes) throw new Error(`Artifact ${name} is larger than ${maxBytes} bytes.`);
    this.kept.set(name, all);
    return { name, size: all.length, contentType, sha256: createHash('sha256').update(all).digest('hex') };
  }

  async removeRun(): Promise<void> {
    this.kept.clear();
  }
}

async function bufferOf(bytes: ArtifactBytes): Promise<Buffer> {
  if (typeof bytes === 'string' || bytes instanceof Uint8Array) return Buffer.from(bytes as Uint8Array);
  const chunks: Uint8Array[] = [];
  for await (const chunk of bytes) chunks.push(chunk);
  return Buffer.concat(chunks);
}
