import type { Readable } from 'node:stream';

export type ArtifactBytes = Uint8Array | string | AsyncIterable<Uint8Array>;

export interface Artifact {
  readonly name: string;
  readonly size: number;
  readonly contentType: string;
  readonly sha256: string;
}

export interface ArtifactOptions {
  /** Default `application/octet-stream`. */
  readonly contentType?: string;
  /** More is an error, and leaves nothing. */
  readonly maxBytes?: number;
}

/** The first and the last byte. */
export interface ArtifactRange {
  readonly first: number;
  readonly last: number;
}

/** Where the bytes are that runs leave. `Artifacts` of libs/artifacts is one; ids are those of `artifactsIdOf`. */
export interface ArtifactStore {
  /** @param maker.check throws if the run does not count any more; called when the bytes are written, which then go again */
  put(
    maker: { readonly jobId: string; readonly fence: string; readonly check?: () => void },
    name: string,
    bytes: ArtifactBytes,
    options?: ArtifactOptions,
  ): Promise<Artifact>;
  /** Of the run with this fence. */
  list(jobId: string, fence: string): Promise<Artifact[]>;
  open(
    jobId: string,
    name: string,
    range: ArtifactRange | undefined,
    fence: string,
  ): Promise<{ readonly artifact: Artifact; readonly bytes: Readable } | undefined>;
  /** When the last of it was written, by the store's clock, ms; undefined without artifacts. */
  writtenAt(jobId: string): Promise<number | undefined>;
  /** Of all runs. Answers how many there were. */
  removeAll(jobId: string): Promise<number>;
  removeRun(jobId: string, fence: string): Promise<void>;
  /** Every job that has something, a page at a time. A dry run notes nothing. */
  walk(
    position: string | undefined,
    limit: number,
    dryRun?: boolean,
  ): Promise<{
    readonly jobs: readonly { readonly jobId: string; readonly since: number }[];
    readonly position: string | null;
    readonly why?: string;
  }>;
}
