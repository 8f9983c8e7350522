import { z } from 'zod';
import { OPERATION_ACTIONS, OPERATION_RUN_STATES, OPERATION_STATES } from '#nestjs';
import { count, NextCursor } from './fields.js';
import { Work } from './job-schemas.js';
import { limitedTo } from './list-schemas.js';

export const RetryBody = z
  .strictObject({ reset: z.boolean().optional().describe('Count the attempts of the job from 0 again.') })
  .nullish()
  .meta({ id: 'Retry' });
export type RetryBody = z.output<typeof RetryBody>;

export const PriorityBody = z.strictObject({ priority: Work.priority.unwrap() }).meta({ id: 'SetPriority' });
export type PriorityBody = z.output<typeof PriorityBody>;

const ERROR_MOST = 500;

const FilterBody = z.strictObject({
  queue: z.string().max(256).optional(),
  kind: z.string().max(64).optional(),
  state: z
    .enum(OPERATION_STATES)
    .optional()
    .describe(
      'retry: failed. cancel: waiting, delayed, retrying or running. remove: completed or failed. Default: each of these.',
    ),
  owner: z.string().max(600).optional().describe('One of its owners, as in trip:42.'),
  error: z.string().min(1).max(ERROR_MOST).optional().describe('A part of the text of its failure.'),
  before: z.iso
    .datetime({ offset: true })
    .optional()
    .describe('It ended before this time. A job that has not ended was accepted before.'),
});

export const OperationBody = z
  .strictObject({
    action: z.enum(OPERATION_ACTIONS),
    filter: FilterBody.describe('The operation is about jobs for which all of it is true.'),
    dryRun: z.boolean().optional().describe('Only count the jobs and return samples; change nothing.'),
  })
  .meta({ id: 'StartOperation' });
export type OperationBody = z.output<typeof OperationBody>;

export const OperationAsked = z.object({ operationId: z.string() }).meta({ id: 'OperationAsked' });
export type OperationAsked = z.output<typeof OperationAsked>;

const SampleAnswer = z.object({
  id: z.string(),
  kind: z.string(),
  queue: z.string(),
  owners: z.array(z.string()),
  state: z.enum(OPERATION_STATES),
  error: z.string().nullable(),
});

const GroupAnswer = z.object({
  kind: z.string(),
  error: z
    .string()
    .nullable()
    .describe('First line of the failure, at most 200 characters; null without one.'),
  count,
});

const ProblemAnswer = z.object({
  id: z.string(),
  outcome: z.enum(['refused', 'failed']),
  code: z.string(),
  why: z.string(),
});

export const OperationAnswer = z
  .object({
    operationId: z.string(),
    action: z.enum(OPERATION_ACTIONS),
    filter: z.record(z.string(), z.string()),
    dryRun: z.boolean(),
    state: z
      .enum(OPERATION_RUN_STATES)
      .describe('asked: no janitor has begun it yet. stopping: it ends after the page that it is at.'),
    seen: count.describe('Jobs it has looked at.'),
    matched: count.describe(
      'Jobs that its filter names, so far. It fails if there are none and there is no such kind.',
    ),
    done: count,
    failed: count.describe('Jobs that it could not change because of an error.'),
    refused: count.describe(
      'Jobs that must not be changed, such as those of a closed owner. They keep their error.',
    ),
    skipped: count.describe('Jobs that had changed when their turn came.'),
    samples: z.array(SampleAnswer).describe('The first jobs that matched, at most 20.'),
    groups: z
      .array(GroupAnswer)
      .optional()
      .describe(
        'Of a dry run: how many of the jobs that matched have each kind and error, the 10 largest groups first. The first 100 groups are counted.',
      ),
    problems: z.array(ProblemAnswer).describe('The first refused and failed jobs, at most 100.'),
    by: z.string().describe('Name of the key that started it.'),
    limitedTo,
    startedAt: z.iso.datetime(),
    endedAt: z.iso.datetime().optional(),
    why: z.string().optional(),
  })
  .meta({ id: 'Operation' });

export const OperationsAnswer = z
  .object({ operations: z.array(OperationAnswer).describe('Newest first.'), cursor: NextCursor, limitedTo })
  .meta({ id: 'Operations' });
