import type { Receipt } from '#core';
import { addCounts } from '../model/merges.js';

type Counts = Receipt['byQueue'];

/** One receipt of those that a cancel has in its partitions; the first of them says what was asked for. */
export function mergeReceipts(receipts: readonly (Receipt | undefined)[]): Receipt | undefined {
  const [first, ...others] = receipts.filter((receipt) => receipt !== undefined);
  return first && others.reduce(addReceipts, first);
}

function addReceipts(a: Receipt, b: Receipt): Receipt {
  return {
    ...a,
    epoch: a.epoch || b.epoch,
    removed: a.removed + b.removed,
    aborted: a.aborted + b.aborted,
    acknowledged: a.acknowledged + b.acknowledged,
    abandoned: a.abandoned + b.abandoned,
    schedules: a.schedules + b.schedules,
    byQueue: addByQueue(a.byQueue, b.byQueue),
    done: a.done && b.done,
    durable: a.durable && b.durable,
  };
}

function addByQueue(a: Counts, b: Counts): Counts {
  const sum = { ...a };
  for (const [queue, counts] of Object.entries(b)) sum[queue] = addCounts([sum[queue] ?? {}, counts]);
  return sum;
}
