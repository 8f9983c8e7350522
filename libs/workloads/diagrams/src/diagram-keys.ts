/*
 * Every key of this workload. A diagram's keys share one Cluster slot with its short link and with the due list that leads to it;
 * there are 16 such lists. An id is a digest and a short link is generated: both are safe as part of a key.
 *
 *  key                          type    holds                                          written by            ends
 *  <prefix>:{diagrams:<k>}:<id>   hash    the diagram: type, output, at, link; n number  ask, claim, noted,    expires, long after its
 *                                       of claims; u end of the current claim, ms;     begin, record,        picture is gone; refused
 *                                       job, and by, the job's second owner; r         strike
 *                                       renderer; e why the job failed; w what the
 *                                       picture lacks; g every requester is gone
 *  …:askers                     hash    <owner>, '' for callers without one -> its     ask                   with it; strike, refused
 *                                       epoch then, '' for none; bounded
 *  …:source                     string  the source, while it has several requesters    join                  settled, strike; with it
 *  <prefix>:{diagrams:<k>}:due    zset    <id> -> when the reconciler checks it, ms;     join, take, strike    settled, strike
 *                                       also jobs to end, from strike until they are
 *  <prefix>:{diagrams:<k>}:known  zset    <id> -> when it was last requested, ms         ask                   bounded; refused
 *  …:link:<shortlink>           string  <id>                                           ask                   with the diagram
 *  <prefix>:{diagrams:of:<owner>}  zset  <id> -> when it was requested, ms              remember              expires; bounded; forget, at the cancel
 *                                                                                                            of the owner
 *
 *  <prefix>:{diagrams}:gone       zset    <epoch> <owner>, cancelled -> when its         gone, take            the reconcile loop, when all are
 *                                       requests are handled next, ms                                        handled
 *
 *  A picture is an artifact of its job. <owner> is a digest. The channel <prefix>:{diagrams}:over announces the ids of diagrams
 *  whose job has just ended.
 */

import { hash, randomInt } from 'node:crypto';
import type { RenderRequest } from './render/types.js';

const ID = /^[\da-f]{32}$/;
const LINK = /^[\da-f][\dA-Za-z]{17}$/;
const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

export interface DiagramKeys {
  readonly diagram: string;
  readonly due: string;
  readonly known: string;
}

/** A digest: equal type, source, output and renderer give the same diagram. */
export function idOf({ type, output, source }: RenderRequest, renderer: string): string {
  return hash('sha256', JSON.stringify([type, output, renderer, source]), 'hex').slice(0, 32);
}

export function isDiagramId(text: string): boolean {
  return ID.test(text);
}

/** Starts with the diagram's shard, followed by a hundred random bits. */
export function newLink(id: string): string {
  return id[0]! + Array.from({ length: 17 }, () => BASE62[randomInt(62)]).join('');
}

export function isLink(text: string): boolean {
  return LINK.test(text);
}

export function keysOf(prefix: string, id: string): DiagramKeys {
  const shard = shardKey(prefix, id);
  return { diagram: `${shard}:${id}`, due: dueIn(prefix, id), known: `${shard}:known` };
}

export function linkKey(prefix: string, link: string): string {
  return `${shardKey(prefix, link)}:link:${link}`;
}

export function dueIn(prefix: string, shard: string): string {
  return `${shardKey(prefix, shard)}:due`;
}

/** The diagrams that an owner has requested. */
export function askedBy(prefix: string, owner: string): string {
  return `${prefix}:{diagrams:of:${hash('sha256', owner, 'base64url').slice(0, 22)}}`;
}

export function goneKey(prefix: string): string {
  return `${prefix}:{diagrams}:gone`;
}

/** Ids and short links begin with their shard. */
function shardKey(prefix: string, name: string): string {
  return `${prefix}:{diagrams:${name[0]}}`;
}
