import { SWEEP_KINDS } from '#lifecycle';
import { z } from 'zod';

export const SweepKindParam = z.enum(SWEEP_KINDS);

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

const count = z.number().int();

export const SweepAnswer = z
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

export const SweepWithLines = SweepAnswer.extend({
  lines: z
    .array(z.object({ what: z.string(), why: z.string() }))
    .describe('Removed items, or in a dry run items that would be removed, and why.'),
  cursor: z.string().nullable().describe('Cursor of the next page of lines; null on the last page.'),
}).meta({ id: 'SweepWithLines' });

export const QuarantineAnswer = z
  .object({
    jobs: z
      .array(z.object({ jobId: z.string(), at: z.iso.datetime(), why: z.string() }))
      .describe('Finished jobs that could not be removed, oldest first. A sweep with force tries again.'),
    cursor: z.string().nullable().describe('Cursor of the next page; null on the last page.'),
  })
  .meta({ id: 'Quarantine' });

export const SweepsAnswer = z
  .object({
    sweeps: z.array(SweepAnswer).describe('Newest first.'),
    tripped: z
      .record(z.string(), z.object({ at: z.string(), sweepId: z.string(), why: z.string() }))
      .describe('Kinds that remove nothing until an operator acknowledges or forces a sweep, and why.'),
  })
  .meta({ id: 'Sweeps' });
