import { z } from 'zod';
import { limitedTo } from './list-schemas.js';
import { SCOPES } from './scopes.js';

export const MeAnswer = z
  .object({
    name: z.string().describe('Name of the key; empty if the caller needs none.'),
    scopes: z.array(z.enum(SCOPES)),
    limitedTo,
  })
  .meta({ id: 'Me' });
export type MeAnswer = z.output<typeof MeAnswer>;
