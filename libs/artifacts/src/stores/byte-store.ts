import type { Readable } from 'node:stream';

/** Inclusive range of bytes. */
export interface ByteRange {
  readonly first: number;
  readonly last: number;
}

export type Chunks = Iterable<Uint8Array> | AsyncIterable<Uint8Array>;

export interface Written {
  readonly size: number;
  readonly sha256: string;
}

export interface Folders {
  /** At most `limit` names; possibly fewer although there are more. */
  readonly names: readonly string[];
  /** Whether further folders follow. Then `names` is not empty. */
  readonly isMore: boolean;
}

/**
 * Storage for bytes. A folder is `<shard>/<job>`. Names of folders and files come from this library. A missing file is
 * `undefined` or nothing to remove, never an error.
 */
export interface ByteStore {
  /** Atomic: if there are more than `most` bytes or the source fails, nothing remains. */
  put(folder: string, file: string, bytes: Chunks, most: number): Promise<Written>;
  /** `whole`: the expected size. A file of another size is treated as missing. */
  open(folder: string, file: string, range?: ByteRange, whole?: number): Promise<Readable | undefined>;
  /** Also removes the folder if it becomes empty. */
  remove(folder: string, file: string): Promise<void>;
  /** Files of this library, including those that a crash left incomplete. */
  files(folder: string): Promise<string[]>;
  /** Folders of a shard that sort after `after`, in order. */
  folders(shard: string, after: string, limit: number): Promise<Folders>;
}

const SEGMENT = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,199}$/;

/** Joins segments and rejects those that could leave the folder, such as `..` or an absolute path. */
export function pathOf(...parts: readonly string[]): string {
  const segments = parts.flatMap((part) => part.split('/'));
  if (segments.every((segment) => SEGMENT.test(segment))) return segments.join('/');
  throw new TypeError(`Invalid artifact path: ${JSON.stringify(parts.join('/').slice(0, 80))}.`);
}

const FILE = /^\d{1,20}-[A-Za-z0-9_-]{20}$/;

/** Whether this library created the file. Others are ignored. */
export function isArtifactFile(name: string): boolean {
  return FILE.test(name);
}
