import type { Readable } from 'node:stream';

export type ArtifactBytes = Uint8Array | string | AsyncIterable<Uint8Array>;

/** The run that makes something. */
export interface ArtifactMaker {
  readonly jobId: string;
  readonly fence: string;
  /** Throws when what the run makes does not count any more. Asked when its bytes are there: they go again then. */
  readonly check?: () => void;
}

export interface ArtifactOptions {
  /** Default `application/octet-stream`. */
  readonly contentType?: string;
  /** More is an error, and leaves nothing. Default, and most, the limit of the store. */
  readonly maxBytes?: number;
}

export interface Artifact {
  readonly name: string;
  readonly size: number;
  readonly contentType: string;
  readonly sha256: string;
}

/** The first and the last byte. */
export interface ArtifactRange {
  readonly first: number;
  readonly last: number;
}

/** A page of the jobs that have something. */
export interface ArtifactPage {
  /** `since`: when the last of it was written, in the store's time, ms. */
  readonly jobs: readonly { readonly jobId: string; readonly since: number }[];
  /** Where the next page begins; null on the last one. */
  readonly position: string | null;
  /** Why it ends before it has come to everything. */
  readonly why?: string;
}

/** Where what handlers leave behind is kept. The application hands one in. */
export abstract class JobArtifacts {
  abstract put(
    maker: ArtifactMaker,
    name: string,
    bytes: ArtifactBytes,
    options?: ArtifactOptions,
  ): Promise<Artifact>;
  /** What the run of that fence has made is to be seen, and nothing else of the job is. Asked again, it changes nothing. */
  abstract commit(jobId: string, fence: string): Promise<void>;
  /** Of the committed run. */
  abstract list(jobId: string): Promise<Artifact[]>;
  /** Of the committed run; `undefined` when it has none of that name. */
  abstract open(
    jobId: string,
    name: string,
    range?: ArtifactRange,
  ): Promise<{ readonly artifact: Artifact; readonly bytes: Readable } | undefined>;
  /** When the last of the job's was written, in the store's time, ms; `undefined` when it has none. */
  abstract writtenAt(jobId: string): Promise<number | undefined>;
  /** What every run of the job has made, committed or not. Answers how many that were; asked again, none. */
  abstract removeAll(jobId: string): Promise<number>;
  /** What the run of that fence has made. Another of the same job, or a later job of its id, keeps what it has. */
  abstract removeRun(jobId: string, fence: string): Promise<void>;
  /** Every job that has something, also one of which there are only bytes. A dry run notes nothing. */
  abstract walk(position: string | undefined, limit: number, dryRun?: boolean): Promise<ArtifactPage>;
}
