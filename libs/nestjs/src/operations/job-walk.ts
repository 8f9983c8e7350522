import { inGroups, ownersOfMark } from '#core/parts';
import { Injectable } from '@nestjs/common';
import { wordsOfFailure } from '../history/failed-child.js';
import { MooringStore } from '../store/mooring-store.js';

/** The sets of a queue that hold jobs of owners. */
export type JobSet = 'waiting-children' | 'delayed' | 'prioritized' | 'active' | 'completed' | 'failed';

type WalkedState = 'waiting' | 'delayed' | 'retrying' | 'running' | 'completed' | 'failed';

export interface WalkFilter {
  readonly kind?: string;
  readonly state?: string;
  readonly owner?: string;
  /** A part of the text of its failure. */
  readonly error?: string;
  /** ms: it ended before; a job that has not ended was accepted before. */
  readonly before?: number;
}

export interface WalkedJob {
  readonly id: string;
  readonly kind: string;
  readonly queue: string;
  readonly owners: readonly string[];
  readonly state: WalkedState;
  readonly error: string | null;
  readonly set: JobSet;
  /** Its place in the set: of an ended job the time of its end, ms. */
  readonly at: number;
  readonly acceptedAt: number;
  /** The operation that retried it last, or ''. */
  readonly retriedBy: string;
}

/** Behind the job that was looked at last. */
export interface WalkPosition {
  readonly at: number;
  readonly id: string;
  /** The walk ends here: what came later was not there when it began. */
  readonly until: number;
}

export interface WalkPage {
  readonly jobs: readonly WalkedJob[];
  readonly seen: number;
  /** Undefined after the last page. */
  readonly next: WalkPosition | undefined;
}

type Entry = readonly [id: string, at: number];
type Fields = readonly (string | null)[];

const IDS_A_READ = 1_000;
const FIELDS = ['name', 'opts', 'failedReason', 'timestamp', 'atm', 'retriedBy'];

/**
 * Walks the jobs of one queue in one set, a page at a time, and answers those that a filter names. A page costs what its jobs cost,
 * however many the set holds; payloads are not read. Jobs that leave the set meanwhile do not move the others.
 */
@Injectable()
export class JobWalk {
  constructor(private readonly store: MooringStore) {}

  async page(
    queue: string,
    set: JobSet,
    filter: WalkFilter,
    limit: number,
    from?: WalkPosition,
  ): Promise<WalkPage> {
    const key = `${this.prefixOf(queue)}${set}`;
    const entries =
      set === 'active' ? await this.running(key, limit, from) : await this.sorted(key, limit, from);
    const jobs = await this.read(queue, set, entries.found, filter);
    const last = entries.found.at(-1);
    return {
      jobs,
      seen: entries.found.length,
      next:
        last && entries.found.length === limit
          ? { id: last[0], at: last[1], until: entries.until }
          : undefined,
    };
  }

  /** Those of these jobs that are there, and that the filter names. */
  async read(
    queue: string,
    set: JobSet,
    entries: readonly Entry[],
    filter: WalkFilter,
  ): Promise<WalkedJob[]> {
    const prefix = this.prefixOf(queue);
    const fields = entries.map(([id]) => this.store.call<Fields>('hmget', prefix + id, ...FIELDS));
    const read = await Promise.all(fields);
    const jobs = entries.flatMap((entry, i) => jobOf(queue, set, entry, read[i]!));
    return jobs.filter((job) => matches(job, filter));
  }

  private prefixOf(queue: string): string {
    return `${this.store.root}:${queue}:`;
  }

  private async sorted(
    key: string,
    limit: number,
    from?: WalkPosition,
  ): Promise<{ found: Entry[]; until: number }> {
    const until = from?.until ?? (await this.highest(key));
    const found: Entry[] = [];
    // Several jobs may have the place of the last one. Those that were looked at before are passed over.
    for (let passed = 0; found.length < limit; passed += limit) {
      const range = [from?.at ?? '-inf', until, 'WITHSCORES', 'LIMIT', passed, limit];
      const page = inGroups(await this.store.call<string[]>('zrangebyscore', key, ...range), 2);
      const entries = page.map(([id, at]): Entry => [id!, Number(at)]);
      found.push(...entries.filter(([id, at]) => !from || at > from.at || isBehind(id, from.id)));
      if (page.length < limit) break;
    }
    return { found: found.slice(0, limit), until };
  }

  private async highest(key: string): Promise<number> {
    const [, at = '0'] = await this.store.call<string[]>('zrevrange', key, 0, 0, 'WITHSCORES');
    return Number(at);
  }

  /** As many jobs run as workers have room for. They come in the order of their ids: their list moves while it is read. */
  private async running(
    key: string,
    limit: number,
    from?: WalkPosition,
  ): Promise<{ found: Entry[]; until: number }> {
    const ids: string[] = [];
    for (let page: string[] = [], first = 0; first === 0 || page.length === IDS_A_READ; first += IDS_A_READ) {
      page = await this.store.call<string[]>('lrange', key, first, first + IDS_A_READ - 1);
      ids.push(...page);
    }
    const rest = [...new Set(ids)].filter((id) => !from || isBehind(id, from.id));
    const found = rest.toSorted(byBytes).slice(0, limit);
    return { found: found.map((id): Entry => [id, 0]), until: 0 };
  }
}

function jobOf(queue: string, set: JobSet, [id, at]: Entry, fields: Fields): WalkedJob[] {
  const [kind, opts, reason, timestamp, attempts, retriedBy] = fields;
  // It was removed since its id was read.
  if (kind === null || kind === undefined) return [];
  const state = stateIn(set, Number(attempts ?? 0));
  const hasError = state === 'failed' || state === 'retrying';
  const error = (hasError && wordsOfFailure(reason ?? '')) || null;
  const acceptedAt = Number(timestamp ?? 0);
  const job = { id, kind, queue, owners: ownersIn(opts ?? '{}'), state, error, set, at, acceptedAt };
  return [{ ...job, retriedBy: retriedBy ?? '' }];
}

function matches(job: WalkedJob, { kind, state, owner, error, before = Infinity }: WalkFilter): boolean {
  const hasEnded = job.set === 'completed' || job.set === 'failed';
  return (
    (kind === undefined || job.kind === kind) &&
    (state === undefined || job.state === state) &&
    (owner === undefined || job.owners.includes(owner)) &&
    (error === undefined || (job.error ?? '').includes(error)) &&
    (hasEnded ? job.at : job.acceptedAt) < before
  );
}

function stateIn(set: JobSet, attempts: number): WalkedState {
  switch (set) {
    case 'waiting-children':
    case 'prioritized':
      return 'waiting';
    case 'delayed':
      return attempts > 0 ? 'retrying' : 'delayed';
    case 'active':
      return 'running';
    case 'completed':
    case 'failed':
      return set;
  }
}

/** Programs beside Mooring may have written anything. */
function ownersIn(opts: string): string[] {
  try {
    const { mooring } = JSON.parse(opts) as { mooring?: string };
    return mooring === undefined ? [] : ownersOfMark(mooring);
  } catch {
    return [];
  }
}

/** The order that the store has. */
function byBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

function isBehind(id: string, last: string): boolean {
  return byBytes(id, last) > 0;
}
