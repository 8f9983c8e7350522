/*
 * Every key of this workload. A site's keys are in one Cluster slot with the list that leads to it; there are 16 such lists, so
 * that sites spread over a Cluster. A site's id is made by us, and may be part of a key.
 *
 *  key                        type  holds                                          written by             ends
 *  <prefix>:{sites:<k>}:due   zset  <site> -> when it is tended next, ms           change, asked, offer,  switch, drop, removed, forget:
 *                                                                                  gone, take             empties with what is to be done
 *  <prefix>:{sites:<k>}:<site>  hash  the site: name, url, pace, at; v version;    create, change,        forget
 *                                   n entities, b their bytes; w the version to    asked, switch, gone
 *                                   be shown; a the one up to which a build was
 *                                   asked for, aj that build; c current build,
 *                                   cv its version, cf its fence; p the one
 *                                   before; g the cancelId of its deletion
 *  …:entities                 hash  <type>/<id> -> the entity, as JSON             change                 gone
 *  …:index                    zset  <type>/<id>, in order                          change                 gone
 *  …:builds                   zset  <job> -> when it was noted, ms                 asked, begin           bounded in number; forget
 *  …:offers                   hash  <job> -> `<version>|<fence>`: builds that are  offer                  switch, drop, forget
 *                                   to be shown as soon as their run counts
 *  …:old                      zset  <job> -> since when nobody is to get it, ms:   switch                 removed, forget
 *                                   builds whose pages are to be removed
 *
 *  A build's pages are artifacts of its job.
 */

import { hash, randomBytes } from 'node:crypto';

/** Ids of sites are hard to guess, and never need quoting. */
const SITE_ID = /^[0-9a-z]{20}$/;

export const shards: readonly string[] = Array.from({ length: 16 }, (_, i) => i.toString(16));

export interface SiteKeys {
  readonly site: string;
  readonly due: string;
}

export function newSiteId(): string {
  return BigInt(`0x1${randomBytes(16).toString('hex')}`)
    .toString(36)
    .slice(-20);
}

export function isSiteId(text: string): boolean {
  return SITE_ID.test(text);
}

export function dueIn(prefix: string, shard: string): string {
  return `${prefix}:{sites:${shard}}:due`;
}

export function keysOf(prefix: string, siteId: string): SiteKeys {
  const shard = hash('sha256', siteId, 'hex')[0]!;
  return { site: `${prefix}:{sites:${shard}}:${siteId}`, due: dueIn(prefix, shard) };
}
