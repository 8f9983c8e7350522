import { SWEEP_KINDS } from '#lifecycle';
import { z } from 'zod';

export const SweepKindParam = z.enum(SWEEP_KINDS);

export const SweepBody = z
  .strictObject({
    dryRun: z.boolean().optional().describe('Say what would go, and why; remove nothing.'),
    force: z.boolean().optional().describe('Also if it is more at once than the limit lets it.'),
    acknowledge: z
      .boolean()
      .optional()
      .describe(
        'Why it tripped is mended: it may remove again, within the limit. A dry run changes nothing.',
      ),
  })
  .nullish()
  .meta({ id: 'SweepOrder' });
export type SweepBody = z.infer<typeof SweepBody>;

/** What it is to do is said in the body; in the address it would be overlooked. */
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
      .describe('asked: no janitor has begun it yet. stopped: the next turn goes on with it.'),
    dryRun: z.boolean(),
    force: z.boolean(),
    onRequest: z.boolean().optional().describe('Somebody asked for it; without, it came by the clock.'),
    askedAt: z.iso.datetime(),
    endedAt: z.iso.datetime().optional(),
    seen: count,
    removed: count.describe('In a dry run: would go.'),
    kept: count,
    unknown: count.describe('Nobody could say what is to become of them; they are kept.'),
    failed: count,
    healed: count,
    jobs: count.describe('Jobs that went with what was removed.'),
    waiting: count.optional().describe('At rest after a failure, or in quarantine.'),
    of: count.optional().describe('How many there were to be seen in all, about, where that is known.'),
    tookMs: z.number(),
    worstStallMs: z.number().describe('The longest that the store kept another client waiting meanwhile.'),
    why: z.string().optional(),
  })
  .meta({ id: 'Sweep' });

export const SweepWithLines = SweepAnswer.extend({
  lines: z
    .array(z.object({ what: z.string(), why: z.string() }))
    .describe('What went, or would go, and why.'),
  cursor: z.string().nullable().describe('Where the next page of lines begins; null on the last one.'),
}).meta({ id: 'SweepWithLines' });

export const QuarantineAnswer = z
  .object({
    jobs: z
      .array(z.object({ jobId: z.string(), at: z.iso.datetime(), why: z.string() }))
      .describe(
        'Finished jobs that could not be removed; a sweep with force tries it again. The oldest first.',
      ),
    cursor: z.string().nullable().describe('Where the next page begins; null on the last one.'),
  })
  .meta({ id: 'Quarantine' });

export const SweepsAnswer = z
  .object({
    sweeps: z.array(SweepAnswer).describe('The newest first.'),
    tripped: z
      .record(z.string(), z.object({ at: z.string(), sweepId: z.string(), why: z.string() }))
      .describe('Which remove nothing until an operator acknowledges or forces one, and why.'),
  })
  .meta({ id: 'Sweeps' });
