import { z } from 'zod';
import { count, NextCursor } from './fields.js';
import { limitOf } from './list-schemas.js';

export const AuditQuery = z.strictObject({
  who: z.string().min(1).max(64).optional().describe('Name of the key.'),
  what: z.string().min(1).max(64).optional().describe('As in owner.cancel.'),
  since: z.iso.datetime({ offset: true }).optional().describe('Entries of this time and later.'),
  cursor: z.string().max(40).optional(),
  limit: limitOf(1_000, 100),
});
export type AuditQuery = z.output<typeof AuditQuery>;

const EntryAnswer = z.object({
  id: z.string(),
  at: z.iso.datetime(),
  who: z.string().describe('Name of the key; api without keys.'),
  what: z.string().describe('As in owner.cancel; key.refused for a call that the key may not make.'),
  on: z.string().describe('As in trip:42, the id of a job, or the name of a queue.'),
  outcome: z.enum(['done', 'refused', 'failed']),
  status: count.describe('HTTP status of the answer.'),
  requestId: z.string(),
  address: z.string().optional(),
  details: z.record(z.string(), z.unknown()).optional(),
});

export const AuditAnswer = z
  .object({ entries: z.array(EntryAnswer).describe('Newest first.'), cursor: NextCursor })
  .meta({ id: 'Audit' });
