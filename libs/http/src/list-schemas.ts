import { parseOwner } from '#core';
import { JOB_STATES } from '#nestjs';
import { z } from 'zod';
import { count, NextCursor } from './fields.js';
import { ReceiptAnswer } from './owner-schemas.js';

/** A cursor names a place in each list that it goes through. */
const LONGEST_CURSOR = 12_000;

/** The number of items of a page. It reads what it has read before: an application may validate twice. */
export const limitOf = (most: number, standard: number) =>
  z.coerce.number().int().min(1).max(most).optional().describe(`1 to ${most}; default ${standard}.`);

const OwnerName = z
  .string()
  .max(600)
  .superRefine((text, context) => {
    try {
      parseOwner(text);
    } catch (error) {
      context.addIssue({ code: 'custom', message: (error as Error).message });
    }
  });

/** Strict: a filter that is misspelt would otherwise show jobs that were not asked for. */
export const JobsQuery = z.strictObject({
  queue: z.string().max(256).optional(),
  kind: z.string().max(256).optional(),
  state: z.enum(JOB_STATES).optional(),
  owner: OwnerName.optional().describe('As in trip:42.'),
  error: z.string().min(1).max(500).optional().describe('A part of the text of the failure.'),
  cursor: z.string().max(LONGEST_CURSOR).optional(),
  limit: limitOf(1_000, 100),
});
export type JobsQuery = z.output<typeof JobsQuery>;

/** Only in answers to a caller with limits. */
export const limitedTo = z
  .object({
    ownerTypes: z.array(z.string()).optional(),
    kinds: z.array(z.string()).optional(),
    queues: z.array(z.string()).optional(),
  })
  .optional()
  .describe('What the key is limited to, if it is. The answer leaves out the rest.');

const time = z.iso.datetime().nullable();

/** What every list shows of a job. */
const shownJob = {
  id: z.string(),
  kind: z.string(),
  queue: z.string(),
  owners: z.array(z.string()),
  state: z.enum(JOB_STATES),
};

const ListedJobAnswer = z
  .object({
    ...shownJob,
    error: z.string().nullable().describe('At most 2,000 characters of the failure, or why it was removed.'),
    attempts: count,
    acceptedAt: z.iso.datetime(),
    beganAt: time.describe('When its last run began.'),
    endedAt: time,
    dueAt: time.describe('When a delayed or retrying job is due.'),
  })
  .meta({ id: 'ListedJob' });

export const JobsAnswer = z
  .object({
    jobs: z.array(ListedJobAnswer).describe('Newest first.'),
    cursor: NextCursor.describe(
      'Cursor of the next page; null on the last page. A page may hold fewer jobs than asked, or none, and a cursor.',
    ),
    limitedTo,
  })
  .meta({ id: 'Jobs' });

export const OwnersQuery = z.strictObject({
  type: z.string().min(1).max(64).optional(),
  prefix: z
    .string()
    .max(600)
    .optional()
    .describe('How the id begins, with a type; or how the name begins, as in trip:4.'),
  state: z.enum(['open', 'closed']).optional(),
  cursor: z.string().max(LONGEST_CURSOR).optional(),
  limit: limitOf(100, 50),
});
export type OwnersQuery = z.output<typeof OwnersQuery>;

const ListedOwnerAnswer = z.object({
  owner: z.string(),
  state: z.enum(['open', 'closed']),
  counts: z.object({ jobs: count, running: count }),
  oldestJobMs: count.nullable().describe('How long its oldest job has been there; null without jobs.'),
  lookedAt: count.describe(
    'Of how many of its jobs `running` and `oldestJobMs` are: at most about 100, on long pages fewer.',
  ),
});

export const OwnersAnswer = z
  .object({ owners: z.array(ListedOwnerAnswer).describe('By name.'), cursor: NextCursor, limitedTo })
  .meta({ id: 'Owners' });

export const CancellationsQuery = z.strictObject({
  open: z
    .union([z.boolean(), z.enum(['true', 'false']).transform((text) => text === 'true')])
    .optional()
    .describe('true: those whose jobs have not all left. false: the others.'),
  cursor: z.string().max(64).optional(),
  limit: limitOf(100, 100),
});
export type CancellationsQuery = z.output<typeof CancellationsQuery>;

export const CancellationsAnswer = z
  .object({ cancellations: z.array(ReceiptAnswer).describe('Newest first.'), cursor: NextCursor, limitedTo })
  .meta({ id: 'Cancellations' });

export const PayloadAnswer = z
  .object({
    id: z.string(),
    kind: z.string(),
    payload: z.unknown().describe('Fields that the kind hides are "[hidden]".'),
  })
  .meta({ id: 'JobPayload' });

export const LogAnswer = z
  .object({
    id: z.string(),
    lines: z
      .array(z.object({ at: time, level: z.string(), text: z.string() }))
      .describe('What the runs of the job logged, oldest first: the first hundred lines of each.'),
  })
  .meta({ id: 'JobLog' });

export const FlowTreeAnswer = z
  .object({
    ...shownJob,
    error: z.string().nullable(),
    children: z.array(z.unknown()).describe('Jobs of the same shape, without parent.'),
    parent: z.string().nullable().describe('The job that waits for this one.'),
    limitedTo,
  })
  .meta({ id: 'FlowTree' });

const kept = z.object({ ageMs: z.number(), count });

export const KindsAnswer = z
  .object({
    kinds: z.array(
      z.object({
        name: z.string(),
        queue: z.string(),
        class: z.string(),
        attempts: count,
        timeoutMs: z.number(),
        graceMs: z.number(),
        expiresInMs: z.number().nullable(),
        dedup: z.string(),
        maxPayloadBytes: count,
        keep: z.object({ completed: kept, failed: kept }),
        artifacts: z.boolean(),
        offered: z.boolean().describe('Whether callers may enqueue its jobs.'),
        hides: z.array(z.string()).describe('Fields of its payloads that are never shown.'),
      }),
    ),
    limitedTo,
  })
  .meta({ id: 'Kinds' });

const RunAnswer = z.object({
  jobId: z.string(),
  kind: z.string(),
  queue: z.string(),
  owner: z.string(),
  attempt: count,
  since: z.iso.datetime(),
});

export const WorkersAnswer = z
  .object({
    workers: z.array(
      z.object({
        id: z.string(),
        host: z.string(),
        pid: count,
        version: z.string().nullable(),
        state: z.enum(['running', 'draining']),
        startedAt: z.iso.datetime(),
        heartbeatAt: z.iso.datetime().describe('Every 10 s. What it runs is as of then.'),
        queues: z.array(z.object({ queue: z.string(), concurrency: count, kinds: z.array(z.string()) })),
        running: count,
        runs: z.array(RunAnswer).describe('The first hundred.'),
      }),
    ),
  })
  .meta({ id: 'Workers' });
