import { durationMs } from '#core/parts';
import { z } from 'zod';
import { count, Duration, NextCursor } from './fields.js';

const LONGEST_WAIT_MS = 120_000;

export const CancelBody = z
  .strictObject({
    reason: z.string().trim().min(1).max(500).optional().describe('Stored in the receipt and the history.'),
    close: z.boolean().optional().describe('Refuse new jobs until the owner is reopened. Default true.'),
    wait: z.literal('drained').optional().describe('Answer when nothing of the owner runs any more.'),
    waitFor: Duration.optional().describe('Longest wait. Default 30s, at most 2m.'),
    cancelId: z.string().optional().describe('Repeating a call with the same id returns the same receipt.'),
    dryRun: z.boolean().optional().describe('Report what would be cancelled; change nothing.'),
  })
  .refine(
    ({ wait, waitFor }) => waitFor === undefined || wait !== undefined,
    'waitFor goes with wait: "drained"',
  )
  .refine(({ waitFor = 0 }) => durationMs('waitFor', waitFor) <= LONGEST_WAIT_MS, 'waitFor is at most 2m')
  .nullish()
  .meta({ id: 'Cancel' });
export type CancelBody = z.output<typeof CancelBody>;

const QueueReceiptAnswer = z.object({
  removed: z.record(z.string(), count).describe('By state before the removal.'),
  aborted: count,
  running: count,
});

export const ReceiptAnswer = z
  .object({
    cancelId: z.string(),
    owner: z.string(),
    job: z.string().optional().describe('Set if a single job was cancelled instead of the whole owner.'),
    epoch: z.string().nullable().describe('Generation of the owner after the cancellation.'),
    reason: z.string(),
    by: z.string(),
    at: z.iso.datetime(),
    closed: z.boolean(),
    removed: count.describe(
      'Jobs removed from their queues or refused when they were due. None of them ever starts.',
    ),
    aborted: count.describe('Runs that were told to stop.'),
    acknowledged: count.describe('Aborted runs that stopped when told.'),
    ignored: count.describe('Aborted runs that were abandoned after their grace period.'),
    running: count.describe('Aborted runs that are still running.'),
    byQueue: z.record(z.string(), QueueReceiptAnswer),
    schedules: count.describe('Schedules that ended with the owner.'),
    done: z.boolean().describe('Nothing of it remains in any queue or index.'),
    durable: z
      .boolean()
      .describe('Whether it was as durable as asked before the answer. False without durability.'),
    mustBeDurable: z
      .literal(true)
      .optional()
      .describe('Cancels wait until they are durable: `durable: false` says that this was not confirmed.'),
    late: z.literal(true).optional(),
    dryRun: z
      .literal(true)
      .optional()
      .describe(
        'Nothing was cancelled: the counts are what a cancel would do, `by` and `at` are who asked, and when.',
      ),
    why: z
      .literal('orphan')
      .optional()
      .describe('Set if the orphan sweep cancelled the owner because it no longer exists.'),
  })
  .meta({ id: 'Receipt' });

const OwnedJobAnswer = z.object({
  id: z.string(),
  queue: z.string(),
  kind: z.string(),
  state: z.string(),
  acceptedAt: z.iso.datetime(),
  hasBegun: z.boolean(),
});

export const OwnerAnswer = z
  .object({
    owner: z.string(),
    state: z.enum(['open', 'closed']),
    epoch: z
      .string()
      .nullable()
      .describe('Generation of the owner; null if it has no jobs and is not closed.'),
    counts: z
      .object({ jobs: count, running: count, ending: count })
      .describe(
        'Of the whole owner. `running`: also cancelled jobs, until they have stopped. `ending`: cancelled jobs that are still there.',
      ),
    jobs: z.array(OwnedJobAnswer),
    cursor: NextCursor,
  })
  .meta({ id: 'Owner' });

export const ReopenAnswer = z
  .object({ owner: z.string(), state: z.literal('open'), epoch: z.string() })
  .meta({ id: 'Reopened' });

/** A job that was removed before it had ended, or by an operation. `why` is all that is known if the job itself is forgotten. */
const HistoryItemAnswer = z.object({
  id: z.string(),
  queue: z.string(),
  kind: z.string().optional(),
  owners: z.array(z.string()).optional(),
  state: z.string().describe('State before the removal.'),
  at: z.iso.datetime(),
  why: z.string().describe('cancelled, orphan, expired, replaced or removed.'),
  reason: z.string().optional(),
  by: z.string().optional(),
  cancelId: z.string().optional(),
});

/** The newest entries first. */
export const HistoryAnswer = z
  .object({ owner: z.string(), entries: z.array(HistoryItemAnswer), cursor: NextCursor })
  .meta({ id: 'History' });
export type HistoryView = z.output<typeof HistoryAnswer>;
