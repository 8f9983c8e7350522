import { z } from 'zod';
import type { Environment } from './entry.js';
import { readOwnerResolvers } from './owner-resolvers-file.js';
import type { OwnerResolverSettings } from './settings.js';

/** What a process reads from its environment that asks whether owners live. Secrets in the file are named by variables. */
export function resolversEnv(env: Environment): {
  OWNER_RESOLVERS: z.ZodType<OwnerResolverSettings | undefined, string | undefined>;
} {
  return {
    OWNER_RESOLVERS: z
      .string()
      .transform((path, context) => readOwnerResolvers(path, context, env))
      .optional()
      .meta({ form: 'file' })
      .describe(
        'A JSON file that says who knows which owners live, for types that no code resolves; see `docs/resolvers.md`.',
      ),
  };
}
