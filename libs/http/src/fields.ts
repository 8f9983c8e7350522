import { z } from 'zod';

/** Fields that several requests have. */

export const Duration = z
  .union([z.number().int().min(0), z.string().max(32)])
  .describe('Milliseconds, or a number with a unit: 500ms, 30s, 5m, 24h, 7d.');

const NOT_A_CURSOR = 'cursor: expected the cursor of the page before, as it was given';

/** Where a page of a list begins: how many come before it. */
export const Offset = z
  .string()
  .regex(/^\d{1,15}$/, NOT_A_CURSOR)
  .optional();

/** Where a page begins. The store's own: a whole number of 64 bits. */
export const Cursor = z
  .string()
  .refine(
    (text) => /^\d{1,20}$/.test(text) && BigInt.asUintN(64, BigInt(text)) === BigInt(text),
    NOT_A_CURSOR,
  )
  .optional();
