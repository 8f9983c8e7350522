import { z } from 'zod';
import { Route } from './build/routes.js';

/** A site as callers see it. */
export const SiteAnswer = z
  .object({
    id: z.string(),
    name: z.string(),
    url: z.string(),
    version: z.number().int().describe('How often its entities have changed.'),
    entities: z.number().int(),
    createdAt: z.iso.datetime(),
    routes: z.array(Route).describe('Of the build that readers get.'),
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
export type SiteView = z.output<typeof SiteAnswer>;
