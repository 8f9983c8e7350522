import { defineKind } from '#nestjs';
import { z } from 'zod';

const order = z.object({
  order: z.number().int(),
  customer: z.number().int(),
  price: z.number().describe('In cents.'),
  currency: z.string(),
  /** Whether the post office has such a mailbox. */
  hasMailbox: z.boolean().default(true),
});
export type Order = z.output<typeof order>;

const often = { payload: order, attempts: 2, backoff: { type: 'fixed', delay: '100ms' } } as const;

export const receipt = defineKind({ name: 'shop.receipt', queue: 'shop-mail', ...often });
export const invoice = defineKind({ name: 'shop.invoice', queue: 'shop-billing', ...often });
export const label = defineKind({ name: 'shop.label', queue: 'shop-shipping', ...often });
export const KINDS = [receipt, invoice, label];
