import { runScript, Script, storeTime } from '#scripts';
import type { Cluster, Redis } from 'ioredis';
import { readFileSync } from 'node:fs';
import type { Artifact } from './artifacts.js';
import { madeIn, manifestOf, shardOf } from './keys.js';

/** An artifact whose bytes are all there, and the file they are in. */
export interface Entry {
  readonly file: string;
  readonly artifact: Artifact;
}

interface JobSince {
  readonly jobId: string;
  readonly since: number;
}

const ENTER = load('enter');
const FORGET = load('forget');

/** Index of artifacts: one manifest per job, and a list of all jobs with artifacts. */
export class Manifests {
  constructor(
    private readonly redis: Redis | Cluster,
    private readonly prefix: string,
  ) {}

  /** Indexes an artifact, first without `what` before its bytes are written, then with it. */
  async enter(
    jobId: string,
    file: string,
    what: Artifact | undefined,
    most: number,
  ): Promise<'ok' | 'full' | 'gone'> {
    const json = what ? JSON.stringify(what) : '';
    return (await this.run(ENTER, jobId, entryOf(file), json, most)) as 'ok' | 'full' | 'gone';
  }

  /** Entries of the run with this fence, in the order of writing. */
  async written(jobId: string, fence: string): Promise<Entry[]> {
    const fields = await this.redis.hgetall(manifestOf(this.prefix, jobId));
    return Object.entries(fields)
      .filter(([field, value]) => field.startsWith(`${fence}/`) && !value.startsWith('0|'))
      .toSorted(([, a], [, b]) => Number.parseInt(a, 10) - Number.parseInt(b, 10))
      .map(([field, value]) => ({
        file: fileOf(field),
        artifact: JSON.parse(value.slice(value.indexOf('|') + 1)),
      }));
  }

  /** Time of the last write; undefined if the job is not in the index. */
  async since(jobId: string): Promise<number | undefined> {
    const since = await this.redis.zscore(madeIn(this.prefix, shardOf(jobId)), jobId);
    return since === null ? undefined : Number(since);
  }

  /** The files of all its entries. */
  async files(jobId: string): Promise<string[]> {
    const fields = await this.redis.hkeys(manifestOf(this.prefix, jobId));
    return fields.filter((field) => field.includes('/')).map(fileOf);
  }

  /** Returns how many entries remain. */
  async forget(jobId: string, files: readonly string[]): Promise<number> {
    return (await this.run(FORGET, jobId, ...files.map(entryOf))) as number;
  }

  /** A page of ZSCAN: every job that stays in the index is on some page. */
  async page(
    shard: string,
    at: string,
    limit: number,
  ): Promise<{ jobs: JobSince[]; next: string | undefined }> {
    const [next, pairs] = await this.redis.zscan(madeIn(this.prefix, shard), at, 'COUNT', limit);
    const jobs: JobSince[] = [];
    for (let i = 0; i < pairs.length; i += 2) jobs.push({ jobId: pairs[i]!, since: Number(pairs[i + 1]) });
    return { jobs, next: next === '0' ? undefined : next };
  }

  /** Jobs of one shard that are not in the index. */
  async strays(jobIds: readonly string[]): Promise<string[]> {
    if (jobIds.length === 0) return [];
    const known = await this.redis.zmscore(madeIn(this.prefix, shardOf(jobIds[0]!)), ...jobIds);
    return jobIds.filter((_, i) => known[i] === null);
  }

  /** Adds jobs to the index with the store's time. A dry run only returns that time. */
  async adopt(strays: readonly string[], dryRun: boolean): Promise<JobSince[]> {
    if (strays.length === 0) return [];
    const now = await storeTime(this.redis);
    const list = madeIn(this.prefix, shardOf(strays[0]!));
    if (!dryRun) await this.redis.zadd(list, 'NX', ...strays.flatMap((jobId) => [now, jobId]));
    return strays.map((jobId) => ({ jobId, since: now }));
  }

  private run(script: Script, jobId: string, ...args: readonly (string | number)[]): Promise<unknown> {
    const keys = [madeIn(this.prefix, shardOf(jobId)), manifestOf(this.prefix, jobId)];
    return runScript(this.redis, script, keys, [jobId, ...args]);
  }
}

/** File names join fence and id with a hyphen, manifest entries with a slash. */
function entryOf(file: string): string {
  return file.replace('-', '/');
}

function fileOf(entry: string): string {
  return entry.replace('/', '-');
}

function load(name: string): Script {
  return new Script(readFileSync(new URL(`${name}.lua`, import.meta.url), 'utf8'));
}
