import { CHILD_POLICIES, MAX_FLOW_DEPTH, MAX_FLOW_JOBS } from '#lifecycle';
import { z } from 'zod';

/** One job of `POST /v1/flows`. Its children are read one by one: a tree without end must not be walked to its end. */
export const FlowBody = z
  .strictObject({
    kind: z.string().max(64),
    owners: z
      .array(z.string().max(600))
      .min(1)
      .max(4)
      .optional()
      .describe('Who the job is for. A child without owners has its parent’s.'),
    payload: z.unknown().optional().describe("What the kind's schema asks for."),
    onChildFailure: z
      .enum(CHILD_POLICIES)
      .optional()
      .describe(
        'What a child that does not complete means to this job. Default its parent’s, and at the top fail.',
      ),
    children: z
      .array(z.unknown())
      .max(MAX_FLOW_JOBS)
      .optional()
      .describe(`Jobs of the same form, at most ${MAX_FLOW_DEPTH} deep and ${MAX_FLOW_JOBS} in all.`),
  })
  .meta({ id: 'Flow' });
export type FlowBody = z.output<typeof FlowBody>;

export const FlowAnswer = z
  .object({
    id: z.string(),
    kind: z.string(),
    queue: z.string(),
    owners: z.array(z.string()),
    children: z.array(z.unknown()).describe('Of the same form.'),
    durable: z
      .boolean()
      .optional()
      .describe('What `DURABILITY` asks for held the flow before it was answered. Absent with `none`.'),
  })
  .meta({ id: 'FlowTicket' });
