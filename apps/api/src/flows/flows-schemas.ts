import { CHILD_POLICIES, MAX_FLOW_DEPTH, MAX_FLOW_JOBS } from '#lifecycle';
import { z } from 'zod';

/** One job of a flow. Children are validated level by level, so that depth is limited before a deep tree is read. */
export const FlowBody = z
  .strictObject({
    kind: z.string().max(64),
    owners: z
      .array(z.string().max(600))
      .min(1)
      .max(4)
      .optional()
      .describe('Owners of the job. A child without owners inherits those of its parent.'),
    payload: z.unknown().optional().describe("Must match the kind's schema."),
    onChildFailure: z
      .enum(CHILD_POLICIES)
      .optional()
      .describe(
        'What happens to this job if a child does not complete. Inherited from the parent; default fail.',
      ),
    children: z
      .array(z.unknown())
      .max(MAX_FLOW_JOBS)
      .optional()
      .describe(`Jobs of the same shape, at most ${MAX_FLOW_DEPTH} deep and ${MAX_FLOW_JOBS} in all.`),
  })
  .meta({ id: 'Flow' });
export type FlowBody = z.output<typeof FlowBody>;

export const FlowAnswer = z
  .object({
    id: z.string(),
    kind: z.string(),
    queue: z.string(),
    owners: z.array(z.string()),
    children: z.array(z.unknown()).describe('Tickets of the same shape.'),
    durable: z
      .boolean()
      .optional()
      .describe(
        'Whether the flow was as durable as `DURABILITY` asks before the answer. Absent with `none`.',
      ),
  })
  .meta({ id: 'FlowTicket' });
