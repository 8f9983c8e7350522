import { z } from 'zod';
import { count, NextCursor, SlotLimit, SlotRate } from './fields.js';

export const QueuesAnswer = z
  .object({
    queues: z.array(
      z.object({
        queue: z.string(),
        counts: z.record(z.string(), count).describe('Number of jobs by state.'),
        oldestWaitingMs: count
          .nullable()
          .describe('How long the oldest waiting job has been due; null when none waits.'),
        paused: z.boolean().describe('No job of the queue starts; running jobs continue.'),
      }),
    ),
  })
  .meta({ id: 'Queues' });

export const PausedAnswer = z.object({ queue: z.string(), paused: z.boolean() }).meta({ id: 'Paused' });
export type PausedAnswer = z.output<typeof PausedAnswer>;

export const SlotBody = z
  .strictObject({
    limit: SlotLimit.optional(),
    rate: SlotRate.nullable().optional().describe('null takes the rate away.'),
  })
  .refine(({ limit, rate }) => limit !== undefined || rate !== undefined, 'Give limit or rate.')
  .meta({ id: 'SetSlotLimit' });
export type SlotBody = z.output<typeof SlotBody>;

export const SlotAnswer = z
  .object({
    key: z.string(),
    limit: count.nullable().describe('null: the next job that uses the key sets it.'),
    rate: z
      .object({ max: count, per: count.describe('ms') })
      .optional()
      .describe('Absent for a key without one.'),
    tokenInMs: count.optional().describe('How long no job of the key may start because of its rate.'),
    holding: count,
    waiting: count,
    holders: z
      .array(z.object({ jobId: z.string(), since: z.iso.datetime() }))
      .describe('The first hundred holders.'),
    waiters: z.array(z.string()).describe('The first hundred waiting jobs.'),
  })
  .meta({ id: 'Slot' });

export const SweepKindParam = z.enum(['orphans', 'retention', 'expiry', 'artifacts', 'leases', 'repair']);

export const SweepBody = z
  .strictObject({
    dryRun: z.boolean().optional().describe('Report what would be removed and why; remove nothing.'),
    force: z.boolean().optional().describe('Remove even more at once than the limit allows.'),
    acknowledge: z
      .boolean()
      .optional()
      .describe(
        'The cause of the trip is fixed: the sweep may remove again, within the limit. Has no effect in a dry run.',
      ),
  })
  .nullish()
  .meta({ id: 'SweepOrder' });
export type SweepBody = z.infer<typeof SweepBody>;

/** Options belong into the body. Refusing a query keeps `?dryRun=true` from being ignored. */
export const NoQuery = z.strictObject({});

export const SweepAsked = z.object({ sweepId: z.string() }).meta({ id: 'SweepAsked' });
export type SweepAsked = z.output<typeof SweepAsked>;

const SweepAnswer = z
  .object({
    sweepId: z.string(),
    sweep: SweepKindParam,
    state: z
      .enum(['asked', 'running', 'done', 'tripped', 'stopped', 'failed'])
      .describe('asked: no janitor has started it yet. stopped: the next janitor resumes it.'),
    dryRun: z.boolean(),
    force: z.boolean(),
    onRequest: z.boolean().optional().describe('True if it was requested; absent if it was scheduled.'),
    askedAt: z.iso.datetime(),
    endedAt: z.iso.datetime().optional(),
    seen: count,
    removed: count.describe('In a dry run: would be removed.'),
    kept: count,
    unknown: count.describe('Items whose state could not be determined; they are kept.'),
    failed: count,
    healed: count,
    jobs: count.describe('Jobs removed together with the removed items.'),
    waiting: count.optional().describe('Items that wait after a failure or are in quarantine.'),
    of: count.optional().describe('Approximate total of items, if known.'),
    tookMs: z.number(),
    worstStallMs: z
      .number()
      .describe('The longest time the store kept another client waiting during the sweep.'),
    why: z.string().optional(),
  })
  .meta({ id: 'Sweep' });

const Line = z.object({ what: z.string(), why: z.string() });

export const SweepWithLines = SweepAnswer.extend({
  lines: z.array(Line).describe('Removed items, or in a dry run items that would be removed, and why.'),
  cursor: NextCursor,
}).meta({ id: 'SweepWithLines' });

const Tripped = z.object({ at: z.string(), sweepId: z.string(), why: z.string() });

export const SweepsAnswer = z
  .object({
    sweeps: z.array(SweepAnswer).describe('Newest first.'),
    tripped: z
      .record(z.string(), Tripped)
      .describe('Kinds that remove nothing until an operator acknowledges or forces a sweep, and why.'),
  })
  .meta({ id: 'Sweeps' });

export const QuarantineAnswer = z
  .object({
    jobs: z
      .array(z.object({ jobId: z.string(), at: z.iso.datetime(), why: z.string() }))
      .describe('Finished jobs that could not be removed, oldest first. A sweep with force tries again.'),
    cursor: NextCursor,
  })
  .meta({ id: 'Quarantine' });
