import type { Cluster, Redis } from 'ioredis';
import { randomBytes } from 'node:crypto';
import type { Readable } from 'node:stream';
import { ArtifactError } from './artifact-error.js';
import { checkContentType, checkName } from './checks.js';
import { FleetMarker } from './fleet-marker.js';
import { isJobId, shardOf, shards } from './keys.js';
import { Manifests, type Entry } from './manifests.js';
import type { ByteRange, ByteStore, Chunks } from './stores/byte-store.js';

export type ArtifactBytes = Uint8Array | string | AsyncIterable<Uint8Array>;

/** The run that writes an artifact. */
export interface Maker {
  readonly jobId: string;
  readonly fence: string;
  /** Throws if the run no longer counts. Called after the bytes were written. */
  readonly check?: () => void;
}

export interface PutOptions {
  /** Default `application/octet-stream`. */
  readonly contentType?: string;
  /** Default and maximum: the limit of the store, 64 MiB. */
  readonly maxBytes?: number;
}

/** An artifact of a job, named by its handler. */
export interface Artifact {
  readonly name: string;
  readonly size: number;
  readonly contentType: string;
  readonly sha256: string;
}

export interface Walked {
  readonly jobs: readonly { readonly jobId: string; readonly since: number }[];
  readonly position: string | null;
  /** Why the scan ended early. */
  readonly why?: string;
}

const MAX_BYTES = 64 * 1024 * 1024;
/** Artifacts per job, over all its runs. */
const MAX_PER_JOB = 1_000;
/** Passes of a removal, because a run may write artifacts while they are removed. */
const REMOVAL_ROUNDS = 5;

/**
 * Artifacts of jobs. The order of writes makes a crash harmless: an entry is written before its bytes and removed after them,
 * so the index leads to all bytes.
 */
export class Artifacts {
  private readonly manifests: Manifests;
  private readonly seal: FleetMarker;

  constructor(
    redis: Redis | Cluster,
    prefix: string,
    private readonly bytes: ByteStore,
    private readonly mostBytes = MAX_BYTES,
  ) {
    this.manifests = new Manifests(redis, prefix);
    this.seal = new FleetMarker(redis, prefix, bytes);
  }

  /** Stores an artifact of a run. A later artifact replaces one with the same name. */
  async put(
    { jobId, fence, check }: Maker,
    name: string,
    bytes: ArtifactBytes,
    { contentType = 'application/octet-stream', maxBytes = this.mostBytes }: PutOptions = {},
  ): Promise<Artifact> {
    checkName(name);
    checkContentType(contentType);
    const folder = folderOf(jobId);
    const file = `${fence}-${randomBytes(15).toString('base64url')}`;
    await this.seal.leave();
    if ((await this.manifests.enter(jobId, file, undefined, MAX_PER_JOB)) === 'full')
      throw new ArtifactError('TOO_MANY', `The job has ${MAX_PER_JOB} artifacts, its limit.`);

    try {
      const most = Math.min(maxBytes, this.mostBytes);
      const written = await this.bytes.put(folder, file, chunksOf(bytes), most);
      const artifact: Artifact = { name, size: written.size, contentType, sha256: written.sha256 };
      if ((await this.manifests.enter(jobId, file, artifact, MAX_PER_JOB)) !== 'ok')
        throw new ArtifactError('REMOVED', 'The artifacts of this job are being removed.');
      check?.();
      return artifact;
    } catch (error) {
      // If this fails too, the bytes are removed together with the job.
      await this.remove(jobId, [file]).catch(() => undefined);
      throw error;
    }
  }

  /** Artifacts of the run with this fence, in the order in which they were written. */
  async list(jobId: string, fence: string): Promise<Artifact[]> {
    return (await this.visible(jobId, fence)).map(({ artifact }) => artifact);
  }

  async open(
    jobId: string,
    name: string,
    range: ByteRange | undefined,
    fence: string,
  ): Promise<{ artifact: Artifact; bytes: Readable } | undefined> {
    const entry = (await this.visible(jobId, fence)).find(({ artifact }) => artifact.name === name);
    const bytes = entry && (await this.bytes.open(folderOf(jobId), entry.file, range, entry.artifact.size));
    return bytes && { artifact: entry.artifact, bytes };
  }

  /** Time of the last write by the store's clock, ms; undefined if the job has no artifacts. */
  writtenAt(jobId: string): Promise<number | undefined> {
    return this.manifests.since(jobId);
  }

  /** Removes the artifacts of all runs of a job. Returns how many there were. */
  async removeAll(jobId: string): Promise<number> {
    let removed = 0;
    for (let round = 0; round < REMOVAL_ROUNDS; round += 1) {
      // Most jobs have no artifacts, so the object store is not asked. Stray bytes are indexed by a scan first.
      if ((await this.manifests.since(jobId)) === undefined) return removed;
      const files = await this.filesOf(jobId);
      removed += files.length;
      if ((await this.remove(jobId, files)) === 0) return removed;
    }
    throw new Error(`The artifacts of job ${jobId} cannot be removed, because it keeps writing new ones.`);
  }

  /** Removes the artifacts of one run. Those of other runs stay. */
  async removeRun(jobId: string, fence: string): Promise<void> {
    if ((await this.manifests.since(jobId)) === undefined) return;
    const files = await this.filesOf(jobId);
    await this.remove(
      jobId,
      files.filter((file) => file.startsWith(`${fence}-`)),
    );
  }

  /**
   * Pages through every job with artifacts: first the indexed ones, then jobs that have only bytes. The latter are added to the
   * index with the current time as `since`, because the clock of their writer is unknown. If another fleet shares the location,
   * they are skipped, because they may be its own. A dry run does not change the index.
   */
  async walk(position: string | undefined, limit: number, dryRun = false): Promise<Walked> {
    const [phase = 'made', shard = '0', at = ''] = position?.split(' ') ?? [];
    if (phase === 'made') {
      const { jobs, next } = await this.manifests.page(shard, at || '0', limit);
      if (next !== undefined) return { jobs, position: `made ${shard} ${next}` };
      const following = shardAfter(shard);
      return { jobs, position: following ? `made ${following}` : `bytes ${shards[0]}` };
    }
    const { names, isMore } = await this.bytes.folders(shard, at, limit);
    const strays = await this.manifests.strays(names.filter((name) => isOf(shard, name)));
    const others = strays.length > 0 ? await this.seal.others() : [];
    if (others.length > 0) return { jobs: [], position: null, why: leftAlone(others) };
    const jobs = await this.manifests.adopt(strays, dryRun);
    if (isMore) return { jobs, position: `bytes ${shard} ${names.at(-1)}` };
    const following = shardAfter(shard);
    return { jobs, position: following ? `bytes ${following}` : null };
  }

  /** Indexed files and files that exist in the byte store. */
  private async filesOf(jobId: string): Promise<string[]> {
    const [entered, lying] = await Promise.all([
      this.manifests.files(jobId),
      this.bytes.files(folderOf(jobId)),
    ]);
    if (entered.some((file) => !lying.includes(file))) await this.seal.check();
    return [...new Set([...entered, ...lying])];
  }

  /** Returns how many entries remain. */
  private async remove(jobId: string, files: readonly string[]): Promise<number> {
    for (const file of files) await this.bytes.remove(folderOf(jobId), file);
    return this.manifests.forget(jobId, files);
  }

  private async visible(jobId: string, fence: string): Promise<Entry[]> {
    if (!isJobId(jobId)) return [];
    const entries = await this.manifests.written(jobId, fence);
    const newest = new Map(entries.map((entry) => [entry.artifact.name, entry]));
    return entries.filter((entry) => newest.get(entry.artifact.name) === entry);
  }
}

function folderOf(jobId: string): string {
  if (!isJobId(jobId)) throw new ArtifactError('INVALID', 'This is not a job id.');
  return `${shardOf(jobId)}/${jobId}`;
}

function isOf(shard: string, name: string): boolean {
  return isJobId(name) && shardOf(name) === shard;
}

function shardAfter(shard: string): string | undefined {
  return shards[shards.indexOf(shard) + 1];
}

function leftAlone([seal]: readonly string[]): string {
  return (
    `Unindexed files were skipped: the seal ${seal} shows that another fleet stores artifacts in the same location. ` +
    'Give each fleet its own location or prefix. If the other fleet no longer exists, remove its seal.'
  );
}

function chunksOf(bytes: ArtifactBytes): Chunks {
  if (typeof bytes === 'string') return [Buffer.from(bytes)];
  return bytes instanceof Uint8Array ? [bytes] : bytes;
}
