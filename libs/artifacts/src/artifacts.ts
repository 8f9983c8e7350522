import type { Cluster, Redis } from 'ioredis';
import { randomBytes } from 'node:crypto';
import type { Readable } from 'node:stream';
import { ArtifactError } from './artifact-error.js';
import { checkContentType, checkName } from './checks.js';
import { FleetMarker } from './fleet-marker.js';
import { isJobId, shardOf, shards } from './keys.js';
import { Manifests, type Entry } from './manifests.js';
import type { ByteRange, ByteStore } from './stores/byte-store.js';

export type ArtifactBytes = Uint8Array | string | AsyncIterable<Uint8Array>;

/** The run that makes something. */
export interface Maker {
  readonly jobId: string;
  readonly fence: string;
  /** Throws when what it makes does not count any more; asked when the bytes are there. */
  readonly check?: () => void;
}

export interface PutOptions {
  /** Default `application/octet-stream`. */
  readonly contentType?: string;
  /** Default, and most, what the store's limit is: 64 MiB. */
  readonly maxBytes?: number;
}

/** Bytes that a job left behind, and what its handler called them. */
export interface Artifact {
  readonly name: string;
  readonly size: number;
  readonly contentType: string;
  readonly sha256: string;
}

export interface Walked {
  readonly jobs: readonly { readonly jobId: string; readonly since: number }[];
  readonly position: string | null;
  /** Why it ends before it has seen everything. */
  readonly why?: string;
}

const MOST_BYTES = 64 * 1024 * 1024;
/** Of all runs of a job together. */
const MOST_A_JOB = 1_000;
/** How often is looked again for what somebody writes while it is removed. */
const REMOVAL_ROUNDS = 5;

/**
 * What handlers leave behind. The order makes a crash harmless: an entry before its bytes, bytes away before their entry, so
 * that there is nothing that the list of jobs does not lead to.
 */
export class Artifacts {
  private readonly manifests: Manifests;
  private readonly seal: FleetMarker;

  constructor(
    redis: Redis | Cluster,
    prefix: string,
    private readonly bytes: ByteStore,
    private readonly mostBytes = MOST_BYTES,
  ) {
    this.manifests = new Manifests(redis, prefix);
    this.seal = new FleetMarker(redis, prefix, bytes);
  }

  /** It is to be seen once its run is committed; of two of one name the later. */
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
    if ((await this.manifests.enter(jobId, file, undefined, MOST_A_JOB)) === 'full')
      throw new ArtifactError('TOO_MANY', `The job has ${MOST_A_JOB} artifacts, its limit.`);

    try {
      const most = Math.min(maxBytes, this.mostBytes);
      const written = await this.bytes.put(folder, file, chunksOf(bytes), most);
      const artifact: Artifact = { name, size: written.size, contentType, sha256: written.sha256 };
      if ((await this.manifests.enter(jobId, file, artifact, MOST_A_JOB)) !== 'ok')
        throw new ArtifactError('REMOVED', 'The artifacts of this job are being removed.');
      check?.();
      return artifact;
    } catch (error) {
      // Should this fail as well, they go with the job.
      await this.remove(jobId, [file]).catch(() => undefined);
      throw error;
    }
  }

  /** What the run of that fence has made is to be seen from now on. */
  commit(jobId: string, fence: string): Promise<void> {
    return this.manifests.commit(jobId, fence);
  }

  /** Of the run that was committed; in the order in which they were written. */
  async list(jobId: string): Promise<Artifact[]> {
    return (await this.visible(jobId)).map(({ artifact }) => artifact);
  }

  async open(
    jobId: string,
    name: string,
    range?: ByteRange,
  ): Promise<{ artifact: Artifact; bytes: Readable } | undefined> {
    const entry = (await this.visible(jobId)).find(({ artifact }) => artifact.name === name);
    const bytes = entry && (await this.bytes.open(folderOf(jobId), entry.file, range, entry.artifact.size));
    return bytes && { artifact: entry.artifact, bytes };
  }

  /** In the store's time, ms; `undefined` when there is, and was, nothing of it. */
  writtenAt(jobId: string): Promise<number | undefined> {
    return this.manifests.since(jobId);
  }

  /** Of all runs of a job, committed or not. Answers how many there were. Asked again, there are none. */
  async removeAll(jobId: string): Promise<number> {
    let removed = 0;
    for (let round = 0; round < REMOVAL_ROUNDS; round += 1) {
      // Most jobs leave nothing, and an object store is not to be asked for each. Stray bytes a walk enters first.
      if ((await this.manifests.since(jobId)) === undefined) return removed;
      const files = await this.filesOf(jobId);
      removed += files.length;
      if ((await this.remove(jobId, files)) === 0) return removed;
    }
    throw new Error(`The artifacts of job ${jobId} cannot be removed: it writes more of them all the time.`);
  }

  /** Of the run of that fence. What another writes of the job meanwhile stays. */
  async removeRun(jobId: string, fence: string): Promise<void> {
    if ((await this.manifests.since(jobId)) === undefined) return;
    const files = await this.filesOf(jobId);
    await this.remove(
      jobId,
      files.filter((file) => file.startsWith(`${fence}-`)),
    );
  }

  /**
   * Every job that has something, a page at a time: first all that the lists name, then those of which there are only bytes.
   * Those are entered in the list: `since` is then when that was, for the clock of who wrote them may be any. Where another
   * fleet has its bytes too, they may be its own. A dry run enters none.
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

  /** Entered, or lying there. */
  private async filesOf(jobId: string): Promise<string[]> {
    const [entered, lying] = await Promise.all([
      this.manifests.files(jobId),
      this.bytes.files(folderOf(jobId)),
    ]);
    if (entered.some((file) => !lying.includes(file))) await this.seal.check();
    return [...new Set([...entered, ...lying])];
  }

  /** Answers how many entries are left, of others. */
  private async remove(jobId: string, files: readonly string[]): Promise<number> {
    for (const file of files) await this.bytes.remove(folderOf(jobId), file);
    return this.manifests.forget(jobId, files);
  }

  private async visible(jobId: string): Promise<Entry[]> {
    if (!isJobId(jobId)) return [];
    const entries = await this.manifests.committed(jobId);
    const newest = new Map(entries.map((entry) => [entry.artifact.name, entry]));
    return entries.filter((entry) => newest.get(entry.artifact.name) === entry);
  }
}

function folderOf(jobId: string): string {
  if (!isJobId(jobId)) throw new ArtifactError('INVALID', 'That is no id of a job.');
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
    `Bytes that nothing leads to are left alone: by the seal ${seal} beside them another fleet keeps its own in the same place. ` +
    'Give each fleet a place or a prefix of its own; if that one is no more, remove its seal.'
  );
}

async function* chunksOf(bytes: ArtifactBytes): AsyncGenerator<Uint8Array> {
  if (typeof bytes === 'string') yield Buffer.from(bytes);
  else if (bytes instanceof Uint8Array) yield bytes;
  else yield* bytes;
}
