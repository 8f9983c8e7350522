import { defineKind, owner, type Owner } from '#lifecycle';
import { z } from 'zod';

/**
 * Builds a site: its primary owner. However many events ask for it, one waits at most and one runs; what happened after a
 * build began makes another. It has a queue of its own, since what is shown of a site is kept whatever its age.
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
  // Its primary owner is its site, which only the calls of sites can say.
  offered: false,
});

export const OWNER_TYPE = 'site';

export function siteOwner(siteId: string): Owner {
  return owner(OWNER_TYPE, siteId);
}
