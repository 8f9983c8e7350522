import { z } from 'zod';
import { SCOPES } from './scopes.js';

export const MeAnswer = z
  .object({
    name: z.string().describe('Name of the key; empty if the caller needs none.'),
    scopes: z.array(z.enum(SCOPES)),
  })
  .meta({ id: 'Me' });
export type MeAnswer = z.output<typeof MeAnswer>;
