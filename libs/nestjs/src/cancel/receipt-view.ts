import type { Receipt } from '#core';
import { isDurable } from '../enqueue/durable-answer.js';
import { ORPHAN_CANCEL } from '../history/job-history.js';
import type { MooringOptions } from '../options.js';

type Same =
  'cancelId' | 'owner' | 'reason' | 'by' | 'closed' | 'removed' | 'aborted' | 'acknowledged' | 'schedules';

/** A receipt as callers see it. Of the aborted runs some have acknowledged, some were ignored in time, and some are running. */
export interface ReceiptView extends Pick<Receipt, Same | 'done' | 'durable' | 'dryRun'> {
  readonly job?: string;
  readonly epoch: string | null;
  readonly at: string;
  readonly ignored: number;
  readonly running: number;
  readonly byQueue: Readonly<Record<string, QueueReceipt>>;
  readonly late?: true;
  readonly why?: 'orphan';
  /** Where answers wait until a cancel is durable: `durable: false` then says that this was not confirmed. */
  readonly mustBeDurable?: true;
}

export interface QueueReceipt {
  /** By the state they were in. */
  readonly removed: Readonly<Record<string, number>>;
  readonly aborted: number;
  readonly running: number;
}

const RUNS = ['aborted', 'acknowledged', 'abandoned'];

/** @param options of the process that answers */
export function viewOfReceipt(
  receipt: Receipt,
  options: Pick<MooringOptions, 'durability'> = {},
): ReceiptView {
  const { job, late, abandoned, ...same } = receipt;
  const queues = Object.entries(receipt.byQueue);
  return {
    ...same,
    ...(job && { job: job.id }),
    epoch: receipt.epoch || null,
    reason: receipt.reason || 'no reason given',
    by: receipt.by || 'unknown',
    at: new Date(receipt.at).toISOString(),
    acknowledged: receipt.acknowledged - abandoned,
    ignored: abandoned,
    running: runningOf(receipt, receipt.done),
    byQueue: Object.fromEntries(queues.map(([queue, counts]) => [queue, viewOfQueue(counts, receipt.done)])),
    ...(late && { late }),
    ...(receipt.cancelId.startsWith(ORPHAN_CANCEL) && { why: 'orphan' as const }),
    ...(isDurable(options) && { mustBeDurable: true as const }),
  };
}

function viewOfQueue(counts: Readonly<Record<string, number>>, isDone: boolean): QueueReceipt {
  const removed = Object.fromEntries(Object.entries(counts).filter(([state]) => !RUNS.includes(state)));
  return { removed, aborted: counts['aborted'] ?? 0, running: runningOf(counts, isDone) };
}

/** A run whose worker has died acknowledges nothing. */
function runningOf({ aborted = 0, acknowledged = 0 }: Partial<Receipt>, isDone: boolean): number {
  return isDone ? 0 : Math.max(0, aborted - acknowledged);
}
