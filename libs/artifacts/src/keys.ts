/*
 * Every key of this room. A job's is in one Cluster slot with the list that leads to it; there are 16 such lists, so that they
 * spread over a Cluster. A job's id is made by us, and may be part of a key.
 *
 *  key                      type  holds                                        written by            ends
 *  <prefix>:{made:<k>}      zset  <job> -> when it was last written of, ms     enter, walk           forget: empties with the jobs
 *  <prefix>:{made:<k>}:<job>  hash  its manifest: <fence>/<id> -> one artifact  enter                 forget
 *  <prefix>:{fleet}         string  the name of this fleet's seal among the bytes; ` left` behind it  fleet-marker.ts       never
 *                                 once it was put there
 *
 *  The manifest's other field n counts what was written. An entry is `<n>|<what it is, as JSON>`, and `0|` in front of one
 *  whose bytes are not all there. Bytes lie at <prefix>/<k>/<job>/<fence>-<id>: nothing of a caller's is part of a path. What a
 *  walk finds there without a manifest it enters in the list, from which it is removed as all else; unless
 *  <prefix>/fleets/<seal> shows that another fleet keeps its bytes there too.
 */

import { hash } from 'node:crypto';

const JOB_ID = /^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/;

export const shards: readonly string[] = [...'0123456789abcdef'.matchAll(/./g)].map(([shard]) => shard);

/** Whether a job of that id could be one of ours: only those have artifacts. */
export function isJobId(text: string): boolean {
  return JOB_ID.test(text);
}

export function shardOf(jobId: string): string {
  return hash('sha256', jobId, 'hex')[0]!;
}

export function madeIn(prefix: string, shard: string): string {
  return `${prefix}:{made:${shard}}`;
}

export function fleetIn(prefix: string): string {
  return `${prefix}:{fleet}`;
}

export function manifestOf(prefix: string, jobId: string): string {
  return `${madeIn(prefix, shardOf(jobId))}:${jobId}`;
}
