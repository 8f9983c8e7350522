import { Injectable } from '@nestjs/common';
import { Keys, SWEEP_KEEP_MS, SWEEP_LINES, SWEEP_LINES_BYTES, SWEEPS_KEPT } from '../keys.js';
import { LIFECYCLE_DEFAULTS, LifecycleOptions } from '../options.js';
import { runScript } from '../scripts.js';
import { Store } from '../store.js';
import { SWEEP_KINDS, type SweepKind, type SweepLine } from './sweep.js';
import type { SweepRecord } from './sweep.record.js';

const PAGE = 100;
const SHOWN = 30;

export interface Unfinished {
  readonly sweepId: string;
  readonly position: string;
}

/** Where a sweep is, and by whose leave that is said. */
interface Place {
  /** Null when it is over. */
  readonly position: string | null;
  readonly token?: string;
  readonly lockMs?: number;
  /** What went since it was said last. */
  readonly lines?: readonly SweepLine[];
  /** It is over, and listed until others are told. */
  readonly isNews?: boolean;
}

/** Why a sort of sweep removes nothing until an operator says so. */
export interface Trip {
  readonly at: string;
  readonly sweepId: string;
  readonly why: string;
}

/** What is written of sweeps: records, what went by them, and where an unfinished one is. */
@Injectable()
export class SweepBook {
  private readonly book: string;

  constructor(
    options: LifecycleOptions,
    private readonly store: Store,
  ) {
    this.book = new Keys(options.prefix ?? LIFECYCLE_DEFAULTS.prefix).sweeps;
  }

  /** False when the lock is another's by now; nothing was written then. */
  async save(record: SweepRecord, place: Place): Promise<boolean> {
    const { position, token = '', lockMs = 0, lines = [], isNews = false } = place;
    // Of a dry run nothing is kept that another could go on with.
    const at = position === null ? '' : record.dryRun || token === '' ? '-' : position;
    const args = [
      '',
      record.sweep,
      token,
      lockMs,
      record.sweepId,
      JSON.stringify(record),
      at,
      SWEEP_KEEP_MS,
      SWEEPS_KEPT,
      SWEEP_LINES,
      SWEEP_LINES_BYTES,
      isNews ? 1 : 0,
      ...lines.map((line) => JSON.stringify(line)),
    ];
    const [word] = await this.call(
      () => runScript(this.store.redis, 'save', [this.book], args) as Promise<[string]>,
    );
    return word === 'saved';
  }

  async find(sweepId: string): Promise<SweepRecord | undefined> {
    const text = await this.call(() => this.store.redis.get(`${this.book}:${sweepId}`));
    return text === null ? undefined : (JSON.parse(text) as SweepRecord);
  }

  /** The newest first: so many of each sort. */
  async newest(): Promise<SweepRecord[]> {
    const found = await Promise.all(SWEEP_KINDS.map((kind) => this.newestOf(kind)));
    return found.flat().toSorted((a, b) => b.askedAt.localeCompare(a.askedAt));
  }

  async newestOf(kind: SweepKind): Promise<SweepRecord[]> {
    const ids = await this.call(() => this.store.redis.zrevrange(`${this.book}:of:${kind}`, 0, SHOWN - 1));
    const found = await Promise.all(ids.map((id) => this.find(id)));
    return found.filter((record) => record !== undefined);
  }

  async forgetLines(sweepId: string): Promise<void> {
    await this.call(() => this.store.redis.unlink(`${this.book}:${sweepId}:lines`));
  }

  /** What went, or would go, a page at a time; null is the position after the last. */
  async lines(sweepId: string, from: number): Promise<{ lines: SweepLine[]; next: number | null }> {
    const texts = await this.call(() =>
      this.store.redis.lrange(`${this.book}:${sweepId}:lines`, from, from + PAGE),
    );
    return {
      lines: texts.slice(0, PAGE).map((text) => JSON.parse(text) as SweepLine),
      next: texts.length > PAGE ? from + PAGE : null,
    };
  }

  async unfinished(kind: SweepKind): Promise<Unfinished | undefined> {
    const text = await this.call(() => this.store.redis.hget(`${this.book}:at`, kind));
    if (text === null) return undefined;
    const cut = text.indexOf('|');
    return { sweepId: text.slice(0, cut), position: text.slice(cut + 1) };
  }

  async ask(record: SweepRecord): Promise<void> {
    // The record first: what is asked for has one.
    await this.save(record, { position: 'asked' });
    await this.call(() =>
      this.store.redis.zadd(`${this.book}:asked`, 'NX', String(Date.parse(record.askedAt)), record.sweepId),
    );
  }

  asked(): Promise<string[]> {
    return this.call(() => this.store.redis.zrange(`${this.book}:asked`, 0, String(PAGE - 1)));
  }

  /** Its record is forgotten. */
  async forgetAsked(sweepId: string): Promise<void> {
    await this.call(() => this.store.redis.zrem(`${this.book}:asked`, sweepId));
  }

  async trips(): Promise<Partial<Record<SweepKind, Trip>>> {
    const fields = await this.call(() => this.store.redis.hgetall(`${this.book}:tripped`));
    return Object.fromEntries(
      SWEEP_KINDS.flatMap((kind) => (fields[kind] ? [[kind, JSON.parse(fields[kind]) as Trip]] : [])),
    );
  }

  async trip(kind: SweepKind, trip: Trip): Promise<void> {
    await this.call(() => this.store.redis.hsetnx(`${this.book}:tripped`, kind, JSON.stringify(trip)));
  }

  async acknowledge(kind: SweepKind): Promise<void> {
    await this.call(() => this.store.redis.hdel(`${this.book}:tripped`, kind));
  }

  private call<T>(ask: () => Promise<T>): Promise<T> {
    return this.store.call(ask);
  }
}
