import type { Counts, Page, SweepKind } from './sweep.js';

/** `asked`: a janitor will begin it. `stopped`: its process ended or lost the lock; the next turn goes on with it. */
export type SweepState = 'asked' | 'running' | 'done' | 'tripped' | 'stopped' | 'failed';

/** What a sweep did, as it stands now. */
export interface SweepRecord extends Counts {
  readonly sweepId: string;
  readonly sweep: SweepKind;
  readonly state: SweepState;
  readonly dryRun: boolean;
  readonly force: boolean;
  /** Somebody asked for it; without, it came by the clock. */
  readonly onRequest?: boolean;
  readonly askedAt: string;
  readonly endedAt?: string;
  /** How many there were to be seen in all, about, where that is known. */
  readonly of?: number;
  /** Of those kept, how many are to go and wait since they could not; where that is known. */
  readonly waiting?: number;
  /** Of its pages, over all processes that worked at it; not the rests between them. */
  readonly tookMs: number;
  /** The longest that the store kept another client waiting meanwhile. */
  readonly worstStallMs: number;
  /** Why it stopped or failed, or what else there is to say. */
  readonly why?: string;
}

export interface SweepOrder {
  readonly dryRun?: boolean;
  readonly force?: boolean;
  readonly onRequest?: boolean;
}

const NOTHING: Counts = { seen: 0, removed: 0, kept: 0, unknown: 0, failed: 0, healed: 0, jobs: 0 };

export function newRecord(
  sweepId: string,
  sweep: SweepKind,
  { dryRun = false, force = false, onRequest = false }: SweepOrder,
  nowMs: number,
): SweepRecord {
  const askedAt = new Date(nowMs).toISOString();
  const order = { dryRun, force, ...(onRequest && { onRequest }) };
  return { sweepId, sweep, state: 'asked', ...order, askedAt, ...NOTHING, tookMs: 0, worstStallMs: 0 };
}

/** The record after one more page. */
export function withPage(record: SweepRecord, page: Page, tookMs: number, stallMs: number): SweepRecord {
  const counts = Object.fromEntries(
    Object.keys(NOTHING).map((name) => [
      name,
      record[name as keyof Counts] + (page[name as keyof Counts] ?? 0),
    ]),
  ) as unknown as Counts;
  return {
    ...record,
    ...counts,
    tookMs: Math.round(record.tookMs + tookMs),
    worstStallMs: Math.max(record.worstStallMs, Math.round(stallMs * 10) / 10),
    ...(page.of !== undefined && { of: page.of }),
    ...(page.waiting !== undefined && { waiting: page.waiting }),
    ...(page.why !== undefined && { why: page.why }),
  };
}

export function isOver({ state }: SweepRecord): boolean {
  return state === 'done' || state === 'tripped' || state === 'failed';
}
