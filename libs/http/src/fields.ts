import { z } from 'zod';

/** Schemas shared by several requests. */

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
