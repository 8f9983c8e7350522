import type { Readable } from 'node:stream';

/** The first and the last byte. */
export interface ByteRange {
  readonly first: number;
  readonly last: number;
}

export interface Written {
  readonly size: number;
  readonly sha256: string;
}

export interface Folders {
  /** At most as many as were asked for; fewer also where there are more. */
  readonly names: readonly string[];
  /** Whether others come after these, of which there is one at least then. */
  readonly isMore: boolean;
}

/**
 * Where bytes lie. A folder is `<shard>/<job>`; both its names and those of files are made by us. What is not there is
 * `undefined` or nothing to remove, never an error.
 */
export interface ByteStore {
  /** Whole, or not at all: more than `most` bytes, or an error of who gives them, leave nothing. */
  put(folder: string, file: string, bytes: AsyncIterable<Uint8Array>, most: number): Promise<Written>;
  /** `whole`: how many bytes were put. What has another number of them by now is not that. */
  open(folder: string, file: string, range?: ByteRange, whole?: number): Promise<Readable | undefined>;
  /** Of what was there the folder goes too, when it is empty. */
  remove(folder: string, file: string): Promise<void>;
  /** What of ours lies there, also what a crash left half-written. */
  files(folder: string): Promise<string[]>;
  /** The folders of a shard that come after a name, in order. */
  folders(shard: string, after: string, limit: number): Promise<Folders>;
}

const SEGMENT = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,199}$/;

/** A path that cannot lead anywhere else: whatever came here, no part of it climbs or starts anew. */
export function pathOf(...parts: readonly string[]): string {
  const segments = parts.flatMap((part) => part.split('/'));
  if (segments.every((segment) => SEGMENT.test(segment))) return segments.join('/');
  throw new TypeError(`No path of ours: ${JSON.stringify(parts.join('/').slice(0, 80))}.`);
}

const FILE = /^\d{1,20}-[A-Za-z0-9_-]{20}$/;

/** Whether it is a name that we give; what else somebody may have put there is left alone. */
export function isFileOfOurs(name: string): boolean {
  return FILE.test(name);
}
