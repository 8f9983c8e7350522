import { Injectable } from '@nestjs/common';
import { MooringStore, type Command, type StoreLock } from '../store/mooring-store.js';
import type { Counts, Page, SweepLine } from './sweep.js';

const KEPT_MS = 7 * 86_400_000;
/** Of each kind. */
const RECORDS_KEPT = 200;
const RECORDS_SHOWN = 30;
const LINES_KEPT = 1_000;
const PAGE = 100;
const NOTHING: Counts = { seen: 0, removed: 0, kept: 0, unknown: 0, failed: 0, healed: 0, jobs: 0 };

/** `asked`: a janitor will begin it. `stopped`: its process ended or lost the lock; the next turn resumes it. */
export type SweepState = 'asked' | 'running' | 'done' | 'tripped' | 'stopped' | 'failed';

export interface SweepOrder {
  readonly dryRun?: boolean;
  readonly force?: boolean;
  readonly onRequest?: boolean;
}

export interface SweepRecord extends Counts, SweepOrder {
  readonly sweepId: string;
  readonly sweep: string;
  readonly state: SweepState;
  readonly dryRun: boolean;
  readonly force: boolean;
  readonly askedAt: string;
  readonly endedAt?: string;
  readonly waiting?: number;
  /** The time of its pages in all processes that worked at it, without the pauses between them. */
  readonly tookMs: number;
  /** The longest that the store kept another client waiting. */
  readonly worstStallMs: number;
  readonly why?: string;
  /** Where its next page begins, while it is unfinished. */
  readonly position?: string;
}

/** Why a kind of sweep removes nothing until an operator acknowledges or forces it. */
export interface TrippedSweep {
  readonly at: string;
  readonly sweepId: string;
  readonly why: string;
}

/**
 * The records of sweeps: `record~<id>`, `lines~<id>`, `of~<kind>` (ids by the time they were asked for, ms), `kinds`, `open` (ids of
 * those that are not over) and `tripped` (kind → why).
 */
@Injectable()
export class SweepBook {
  constructor(private readonly store: MooringStore) {}

  async save(
    record: SweepRecord,
    lock?: StoreLock,
    lines: readonly SweepLine[] = [],
    more: readonly Command[] = [],
  ): Promise<void> {
    const { sweepId, sweep } = record;
    const [of, open, askedAt] = [
      this.store.key('of', sweep),
      this.store.key('open'),
      Date.parse(record.askedAt),
    ];
    const key = this.store.key('lines', sweepId);
    const commands: Command[] = [
      ['SET', this.store.key('record', sweepId), JSON.stringify(record), 'PX', KEPT_MS],
      ['ZADD', of, askedAt, sweepId],
      ['ZREMRANGEBYRANK', of, 0, -RECORDS_KEPT - 1],
      ['HSET', this.store.key('kinds'), sweep, sweepId],
      isOver(record) ? ['ZREM', open, sweepId] : ['ZADD', open, askedAt, sweepId],
      ...lines.map((line): Command => ['RPUSH', key, JSON.stringify(line)]),
      ['LTRIM', key, 0, LINES_KEPT - 1],
      ['PEXPIRE', key, KEPT_MS],
    ];
    await this.store.write([...commands, ...more], lock);
  }

  async find(sweepId: string): Promise<SweepRecord | undefined> {
    const text = await (await this.store.client).get(this.store.key('record', sweepId));
    return text === null ? undefined : (JSON.parse(text) as SweepRecord);
  }

  /** Sweeps that are not over, the oldest first. */
  async open(kind?: string): Promise<SweepRecord[]> {
    const found = await this.findAll(await (await this.store.client).zrange(this.store.key('open'), 0, PAGE));
    return found.filter(({ sweep }) => kind === undefined || sweep === kind);
  }

  /** The newest records of each kind, the newest first. */
  async newest(): Promise<SweepRecord[]> {
    const kinds = Object.keys(await (await this.store.client).hgetall(this.store.key('kinds')));
    const found = await Promise.all(kinds.map((kind) => this.newestOf(kind)));
    return found.flat().toSorted((a, b) => b.askedAt.localeCompare(a.askedAt));
  }

  async newestOf(kind: string): Promise<SweepRecord[]> {
    const key = this.store.key('of', kind);
    return this.findAll(await (await this.store.client).zrevrange(key, 0, RECORDS_SHOWN - 1));
  }

  /** What was removed, or would be; `next` is null after the last page. */
  async lines(sweepId: string, from: number): Promise<{ lines: SweepLine[]; next: number | null }> {
    const key = this.store.key('lines', sweepId);
    const texts = await (await this.store.client).lrange(key, from, from + PAGE);
    const lines = texts.slice(0, PAGE).map((text) => JSON.parse(text) as SweepLine);
    return { lines, next: texts.length > PAGE ? from + PAGE : null };
  }

  async trips(): Promise<Record<string, TrippedSweep>> {
    const fields = Object.entries(await (await this.store.client).hgetall(this.store.key('tripped')));
    return Object.fromEntries(fields.map(([kind, text]) => [kind, JSON.parse(text) as TrippedSweep]));
  }

  async trip(kind: string, trip: TrippedSweep, lock: StoreLock): Promise<void> {
    await this.store.write([['HSETNX', this.store.key('tripped'), kind, JSON.stringify(trip)]], lock);
  }

  async acknowledge(kind: string): Promise<void> {
    await this.store.write([['HDEL', this.store.key('tripped'), kind]]);
  }

  private async findAll(ids: readonly string[]): Promise<SweepRecord[]> {
    const found = await Promise.all(ids.map((id) => this.find(id)));
    return found.filter((record) => record !== undefined);
  }
}

export function newRecord(sweepId: string, sweep: string, order: SweepOrder, nowMs: number): SweepRecord {
  const { dryRun = false, force = false, onRequest = false } = order;
  const begun = {
    state: 'asked',
    askedAt: new Date(nowMs).toISOString(),
    tookMs: 0,
    worstStallMs: 0,
  } as const;
  return { sweepId, sweep, dryRun, force, ...(onRequest && { onRequest }), ...begun, ...NOTHING };
}

export function withPage(record: SweepRecord, page: Page, tookMs: number, stallMs: number): SweepRecord {
  const names = Object.keys(NOTHING) as (keyof Counts)[];
  const counts = Object.fromEntries(names.map((name) => [name, record[name] + (page[name] ?? 0)]));
  const { waiting = record.waiting, why = record.why } = page;
  return {
    ...record,
    ...counts,
    tookMs: Math.round(record.tookMs + tookMs),
    worstStallMs: Math.max(record.worstStallMs, Math.round(stallMs * 10) / 10),
    ...(waiting !== undefined && { waiting }),
    ...(why !== undefined && { why }),
    ...(page.position !== null && { position: page.position }),
  };
}

export function isOver({ state }: SweepRecord): boolean {
  return state === 'done' || state === 'tripped' || state === 'failed';
}
