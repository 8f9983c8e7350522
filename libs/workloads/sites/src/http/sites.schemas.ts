import { durationMs } from '#durations';
import { Duration } from '#http';
import { z } from 'zod';

const MAX_PACE_MS = 10_000;
/** As JSON. */
export const MAX_ENTITY_BYTES = 64 * 1024;

/** `POST /v1/sites`. */
export const SiteBody = z
  .strictObject({
    name: z.string().trim().min(1).max(200).default('A site'),
    url: z
      .url({ protocol: /^https?$/ })
      .max(500)
      .optional()
      .describe('Where it is read, for its sitemap. Default the address under which it was made.'),
    pace: Duration.default(0)
      .transform((text, context) => {
        try {
          const ms = durationMs(text, 'pace');
          if (ms <= MAX_PACE_MS) return ms;
          context.addIssue({ code: 'custom', message: `at most ${MAX_PACE_MS} ms` });
        } catch (error) {
          context.addIssue({ code: 'custom', message: (error as Error).message });
        }
        return z.NEVER;
      })
      .describe('How long each build takes at least, to see what happens meanwhile; at most 10s.'),
  })
  .prefault({})
  .meta({ id: 'CreateSite' });
export type SiteBody = z.output<typeof SiteBody>;

/** `PUT /v1/sites/{id}/entities/{type}/{entityId}`. */
export const EntityBody = z
  .looseObject({
    title: z.string().max(500).optional(),
    body: z.string().max(MAX_ENTITY_BYTES).optional(),
  })
  .describe('Any object; what it has beside title and body is shown by name.')
  .meta({ id: 'PutEntity' });
export type EntityBody = z.output<typeof EntityBody>;

export const EntityType = z
  .string()
  .regex(/^[a-z0-9][a-z0-9_-]{0,63}$/i, 'a type has letters, digits, - and _ (at most 64)');

export const EntityId = z
  .string()
  .regex(
    /^(?!\.{1,2}$)[^\p{Cc}\p{Cs}/\\]{1,200}$/u,
    'an id has 1 to 200 characters, and no slashes or control characters',
  );

export const EntityAnswer = z
  .object({ type: z.string(), id: z.string(), version: z.number().int() })
  .meta({ id: 'Entity' });
export type EntityAnswer = z.output<typeof EntityAnswer>;

export const SiteAnswer = z
  .object({
    id: z.string(),
    name: z.string(),
    url: z.string(),
    version: z.number().int().describe('How often its entities have changed.'),
    entities: z.number().int(),
    createdAt: z.iso.datetime(),
    routes: z
      .array(
        z.object({
          path: z.string(),
          kind: z.enum(['static', 'list', 'entity']),
          type: z.string().optional(),
          id: z.string().optional(),
        }),
      )
      .describe('Of the build that readers get.'),
    builds: z
      .array(
        z.object({
          id: z.string(),
          state: z.string(),
          current: z.boolean().describe('Whether readers get it.'),
          version: z.number().int().nullable().describe('It shows every change up to this one.'),
          entities: z.number().int().nullable(),
        }),
      )
      .describe('The newest first, twenty at most.'),
  })
  .meta({ id: 'Site' });
