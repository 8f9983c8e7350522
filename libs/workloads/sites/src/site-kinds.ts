import { owner, type Owner } from '#core';
import { defineKind } from '#nestjs';
import { z } from 'zod';

/**
 * Builds a site, the job's primary owner. However many changes request it, at most one build waits and one
 * runs; a change after a build began leads to another. The kind has its own queue, because the builds that a
 * site shows are kept regardless of age.
 */
export const build = defineKind({
  name: 'sites.build',
  queue: 'sites',
  payload: z.strictObject({}).default({}),
  attempts: 3,
  backoff: { type: 'exponential', delay: '1s' },
  timeout: '5m',
  dedup: { strategy: 'skip' },
  keep: { count: 2 },
  keepWanted: true,
  artifacts: true,
  // The primary owner must be a site, which only the site routes guarantee.
  offered: false,
});

export const OWNER_TYPE = 'site';

export function siteOwner(siteId: string): Owner {
  return owner(OWNER_TYPE, siteId);
}
