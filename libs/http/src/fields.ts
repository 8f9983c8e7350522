import { z } from 'zod';

/** Schemas that several requests share. */

export const Duration = z
  .union([z.number().int().min(0), z.string().max(32)])
  .describe('Milliseconds, or a number with a unit: 500ms, 30s, 5m, 24h, 7d.');

const NOT_A_CURSOR = 'cursor: expected the cursor of the page before, as it was given';

/** Number of items before the page. */
export const Offset = z
  .string()
  .regex(/^\d{1,15}$/, NOT_A_CURSOR)
  .optional();

/** A cursor of the store: an unsigned 64-bit integer. */
export const Cursor = z
  .string()
  .refine(
    (text) => /^\d{1,20}$/.test(text) && BigInt.asUintN(64, BigInt(text)) === BigInt(text),
    NOT_A_CURSOR,
  )
  .optional();

/** Cursor of the next page. */
export const NextCursor = z.string().nullable().describe('Cursor of the next page; null on the last page.');

export const count = z.number().int();

export const SlotLimit = z.number().int().min(1).max(10_000);

/** How many jobs of a slot may start in a time. */
export const SlotRate = z.strictObject({ max: z.number().int().min(1).max(1_000_000), per: Duration });

/** Without control characters, which would be hard to see. */
export const SlotKey = z
  .string()
  .min(1)
  .max(512)
  .regex(/^\P{Cc}*$/u, 'slot.key holds a control character');

/** The owners of a job. */
export const OwnerNames = z
  .array(z.string().max(600))
  .min(1)
  .max(4)
  .describe('One to four owners, as in trip:42. The first is the primary owner.');
