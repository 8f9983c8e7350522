import type { CancelOptions } from '#core';
import type { Claim } from './outbox-rows.js';
import { isUnexplained, refusalOf, type Outcome } from './outcome.js';
import type { ClaimedRow, OutboxTarget } from './row.js';

/**
 * How far the store's clock is ahead of the database's, ms, in a range. Its ends are used so that a row that was written after another one is
 * never taken for the earlier one; and one of which it is not known whether a cancel came before it counts as later.
 */
interface ClockGap {
  readonly least: number;
  readonly most: number;
}

/** Brings the rows of a claim to the store. Everything here may be repeated: the process may be killed before the outcomes are stored. */
export class RelayStep {
  constructor(private readonly target: OutboxTarget) {}

  /** @param before the store's time before the rows were claimed */
  async apply({ rows, at }: Claim, before: number): Promise<Outcome[]> {
    const gap = { least: before - at, most: (await this.target.now()) - at };
    const [jobs, changes] = [rows.filter(isEnqueue), rows.filter((row) => !isEnqueue(row))];
    // A change claimed together with a job of its owner is the later row of the two.
    const outcomes = [await this.applyAll(jobs, gap), await this.applyAll(changes, gap)].flat();
    // Rejects if the store is away: nothing is stored then, and no attempt is counted.
    if (outcomes.some(isUnexplained)) await this.target.now();
    return outcomes;
  }

  private applyAll(rows: readonly ClaimedRow[], gap: ClockGap): Promise<Outcome[]> {
    return Promise.all(
      rows.map((row) =>
        this.applyOne(row, gap).then(
          (): Outcome => ({ id: row.id, state: 'done' }),
          (error: unknown) => refusalOf(row.id, row.attempts, error),
        ),
      ),
    );
  }

  private async applyOne(row: ClaimedRow, { least, most }: ClockGap): Promise<unknown> {
    const { id, action, body, queue, at } = row;
    switch (action) {
      case 'enqueue':
        return this.target.enqueue(row, at + most);
      case 'cancel':
        return this.target.cancel(body.owner!, { ...cancelOf(row), askedAt: at + least });
      case 'cancel-job':
        return this.target.cancelJob(queue!, body.job!, { ...body.options, cancelId: id });
      case 'reopen':
        return this.target.reopen(body.owner!, { ...body.options, askedAt: at + most });
    }
  }
}

function isEnqueue({ action }: ClaimedRow): boolean {
  return action === 'enqueue';
}

function cancelOf({ id, body }: ClaimedRow): CancelOptions {
  return { ...body.options, cancelId: id };
}
