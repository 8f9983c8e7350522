/*
 * Every key of this workload. A site's keys share one Cluster slot with the due list that leads to it. There are 16 such lists,
 * so that sites spread over a Cluster. Site ids are generated, and safe as part of a key.
 *
 *  key                        type  holds                                          written by             ends
 *  <prefix>:{sites:<k>}:due   zset  <site> -> when the reconciler checks it, ms    change, asked, offer,  switch, drop, forget:
 *                                                                                  gone, take             empties when all work is done
 *  <prefix>:{sites:<k>}:<site>  hash  the site: name, url, pace, at; v version;    create, change,        forget
 *                                   n entities, b their bytes; w version to        asked, switch, gone
 *                                   show; a version covered by the last
 *                                   requested build, aj that build; c current
 *                                   build, cv its version; p the build before;
 *                                   g cancelId of its deletion
 *  …:entities                 hash  <type>/<id> -> the entity, as JSON             change                 gone
 *  …:index                    zset  <type>/<id>, in order                          change                 gone
 *  …:builds                   zset  <job> -> when it was recorded, ms              asked, begin           bounded in number; forget
 *  …:offers                   set   <job>: builds to publish once their job is     offer                  switch, drop, forget
 *                                   completed
 *  …:old                      zset  <job> -> when it was superseded, ms: builds    switch                 drop, forget
 *                                   whose pages await removal
 *
 *  The pages of a build are artifacts of its job.
 */

import { hash, randomBytes } from 'node:crypto';

/** Site ids are hard to guess and never need quoting. */
const SITE_ID = /^[0-9a-z]{20}$/;

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
