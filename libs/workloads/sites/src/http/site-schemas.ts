import { DurationMs } from '#workload-kit/api';
import { z } from 'zod';

const MAX_PACE_MS = 10_000;
/** Limit on the entity's JSON. */
export const MAX_ENTITY_BYTES = 64 * 1024;
const MAX_DEPTH = 100;
/**
 * The routes of a site contain each entity id twice, once percent-encoded with up to three characters a byte.
 */
const MAX_ID_BYTES = 100;

export const SiteBody = z
  .strictObject({
    name: z.string().trim().min(1).max(200).default('A site'),
    url: z
      .url({ protocol: /^https?$/ })
      .max(500)
      .optional()
      .describe('Where it is read, for its sitemap. Default the address under which it was made.'),
    pace: DurationMs.pipe(z.number().max(MAX_PACE_MS, `at most ${MAX_PACE_MS} ms`))
      .prefault(0)
      .describe(
        'How long each build takes at least, so that a demo can show what happens during a build; at most 10s.',
      ),
  })
  .prefault({})
  .meta({ id: 'CreateSite' });
export type SiteBody = z.output<typeof SiteBody>;

export const EntityBody = z
  .looseObject({
    title: z.string().max(500).optional(),
    body: z.string().max(MAX_ENTITY_BYTES).optional(),
  })
  .refine((content) => isNoDeeperThan(MAX_DEPTH, content), `an entity is nested ${MAX_DEPTH} deep at most`)
  .describe('Any object; what it has beside title and body is shown by name.')
  .meta({ id: 'PutEntity' });
export type EntityBody = z.output<typeof EntityBody>;

export const EntityType = z
  .string()
  .regex(/^[a-z0-9][a-z0-9_-]{0,63}$/i, 'a type has letters, digits, - and _ (at most 64)');

export const EntityId = z
  .string()
  .regex(/^(?!\.{1,2}$)[^\p{Cc}\p{Cs}/\\]+$/u, 'an id has no slashes or control characters')
  .refine((id) => Buffer.byteLength(id) <= MAX_ID_BYTES, `an id has ${MAX_ID_BYTES} bytes at most`);

export const EntityAnswer = z
  .object({ type: z.string(), id: z.string(), version: z.number().int() })
  .meta({ id: 'Entity' });
export type EntityAnswer = z.output<typeof EntityAnswer>;

/** JSON.stringify and JSON.parse recurse, and the depth they survive depends on the caller's stack. */
function isNoDeeperThan(most: number, content: object): boolean {
  let level: object[] = [content];
  for (let depth = 0; depth < most && level.length > 0; depth += 1)
    level = level.flatMap((each) => Object.values(each) as unknown[]).filter(isNested);
  return level.length === 0;
}

function isNested(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
