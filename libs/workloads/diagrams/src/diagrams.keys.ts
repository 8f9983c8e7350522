/*
 * Every key of this workload. A diagram's keys are in one Cluster slot with its short link and with the list that leads to it;
 * there are 16 such lists. An id is a digest, and a short link is made by us: both may be part of a key.
 *
 *  key                          type    holds                                          written by            ends
 *  <prefix>:{diagrams:<k>}:<id>   hash    the diagram: type, output, at, link; n how     ask, claim, noted,    expires, long after its
 *                                       often it was asked for anew; u until when one  begin, record,        picture is gone; refused
 *                                       process is just asking, ms; job, and by, whose strike
 *                                       the job is beside its own; r what draws it;
 *                                       e why the job failed; w what the picture lacks;
 *                                       g all who asked are gone
 *  …:askers                     hash    <owner>, '' for whoever has none -> its epoch  ask                   with it; strike, refused
 *                                       then, '' for none; bounded
 *  …:source                     string  what is drawn, while several ask for it        join                  settled, strike; with it
 *  <prefix>:{diagrams:<k>}:due    zset    <id> -> when it is tended next, ms             join, take            settled, strike
 *  <prefix>:{diagrams:<k>}:known  zset    <id> -> when it was asked for last, ms         ask                   bounded; refused
 *  …:link:<shortlink>           string  <id>                                           ask                   with the diagram
 *  <prefix>:{diagrams:of:<owner>}  zset  <id> -> when it was asked for, ms              remember              expires; bounded; forget, at the cancel
 *                                                                                                            of the owner
 *
 *  <prefix>:{diagrams}:gone       zset    <epoch> <owner>, cancelled -> when what it     gone, take            the relay, when that is done
 *                                       asked for is seen to next, ms
 *
 *  In due are also jobs that are to be ended, from strike until they are. A picture is an artifact of its job. <owner> is a digest. Beside them the channel <prefix>:{diagrams}:over has the ids of
 *  diagrams whose job has just ended.
 */

import { hash, randomInt } from 'node:crypto';
import type { RenderRequest } from './render/types.js';

const ID = /^[\da-f]{32}$/;
const LINK = /^[\da-f][\dA-Za-z]{17}$/;
const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

export const shards: readonly string[] = Array.from({ length: 16 }, (_, i) => i.toString(16));

export interface DiagramKeys {
  readonly diagram: string;
  readonly due: string;
  readonly known: string;
}

/** The same type, source and output, drawn by the same renderer, is the same diagram. */
export function idOf({ type, output, source }: RenderRequest, renderer: string): string {
  return hash('sha256', JSON.stringify([type, output, renderer, source]), 'hex').slice(0, 32);
}

export function isDiagramId(text: string): boolean {
  return ID.test(text);
}

/** A hundred bits that nobody guesses, behind the shard of what it leads to. */
export function newLink(id: string): string {
  return id[0]! + Array.from({ length: 17 }, () => BASE62[randomInt(62)]).join('');
}

export function isLink(text: string): boolean {
  return LINK.test(text);
}

export function keysOf(prefix: string, id: string): DiagramKeys {
  const shard = shardKey(prefix, id);
  return { diagram: `${shard}:${id}`, due: dueIn(prefix, id[0]!), known: `${shard}:known` };
}

export function linkKey(prefix: string, link: string): string {
  return `${shardKey(prefix, link)}:link:${link}`;
}

export function dueIn(prefix: string, shard: string): string {
  return `${shardKey(prefix, shard)}:due`;
}

/** What an owner has asked for. */
export function askedBy(prefix: string, owner: string): string {
  return `${prefix}:{diagrams:of:${hash('sha256', owner, 'base64url').slice(0, 22)}}`;
}

/** Owners that were cancelled. */
export function goneKey(prefix: string): string {
  return `${prefix}:{diagrams}:gone`;
}

export function overChannel(prefix: string): string {
  return `${prefix}:{diagrams}:over`;
}

/** Ids and short links begin with their shard. */
function shardKey(prefix: string, name: string): string {
  return `${prefix}:{diagrams:${name[0]}}`;
}
