import { hash } from 'node:crypto';
import { formatOwner, type Owner } from './kinds/owner.js';

/*
 * Every key we own. `o` is `<prefix>:{<digest of the owner>}`, so all keys of an owner are in one Cluster slot, and a raw
 * id is never part of a key. BullMQ's own keys begin with `{<prefix>}:` and are touched by BullMQ alone.
 *
 *  key                        type    holds                                     written by           ends
 *  o                          hash    the owner's record, and its index of      reserve, begin,      expires when the owner has been without
 *                                     unfinished jobs (see below)               end, cancel          jobs for RECORD_KEEP_MS, a closed one
 *                                                                                                    for CLOSED_KEEP_MS
 *  o:runs                     zset    `<job>|<token>` -> end of lease, ms       begin, renew, end    empties with the runs; stale ones: begin, end
 *  o:dedup                    hash    <key digest> -> `<epoch>|<pending job>`   reserve, begin, end  empties; stale ones: the next reserve of the key
 *  o:late                     hash    <job> -> the payload that replaces its own  reserve, end       end; of an id used again: reserve
 *  o:done                     hash    <job> -> its committed result             commit, end          end; of an id used again: reserve
 *  o:recent                   hash    <cancelId> -> its answer                  cancel               expires, RECENT_KEEP_MS
 *  <prefix>:{slot:<digest>}   zset    `<job>|<token>`, or `<job>|` for a grant -> end of its hold, ms  take                 empties; stale ones: take
 *  …:waiters                  zset    <job> -> its place in the line            take                 empties; gone ones: quit
 *  <prefix>:{queue:<name>}    hash    n: how many jobs wait; v: version         depth                never; the janitor's census mends n
 *  <prefix>:{idem:<digest>}   string  an Idempotency-Key's body, and its job's id  idempotency.ts     expires, 24 h
 *  …:answer                   string  what was answered to it                   idempotency.ts       expires, 24 h
 *  <prefix>:{queue:<name>}:mended  string  a janitor mends its count             depth.census.ts      expires, 5 s
 *
 *  The record's own fields: e epoch, v reserve counter, l time of the last reserve, o the owner as written, n fence counter,
 *  s open|closed. Every further field is `j<job>` -> `<epoch>|<last wanted at, ms>|<newest fence>|<token of that run>`, and
 *  `|<job it replaced>` behind it when there was one.
 */

/** How long the record of an owner without jobs is kept: longer than any clock or retry can be late. */
export const RECORD_KEEP_MS = 3_600_000;
/** How long a closed owner is remembered as closed. */
export const CLOSED_KEEP_MS = 30 * 86_400_000;
/** How long the same cancelId gives the same answer: whoever asks for a cancel hands it to the script. */
export const RECENT_KEEP_MS = 7 * 86_400_000;
/**
 * How long whoever cleans an index leaves a place alone that has no job: its producer may be about to add it. A producer
 * gives up when half of it has passed.
 */
export const PLACE_GRACE_MS = 5_000;
/** How many fields a record has beside its index. */
export const RECORD_FIELDS = 6;

/** The names of our keys under one prefix. */
export class Keys {
  constructor(readonly prefix: string) {}

  owner(owner: Owner): string {
    return this.ownerText(formatOwner(owner));
  }

  /** An owner as written, `trip:42`. */
  ownerText(owner: string): string {
    return `${this.prefix}:{${digest(owner)}}`;
  }

  slot(key: string): string {
    return `${this.prefix}:{slot:${digest(key)}}`;
  }

  queue(name: string): string {
    return `${this.prefix}:{queue:${name}}`;
  }

  idempotency(key: string): string {
    return `${this.prefix}:{idem:${digest(key)}}`;
  }
}

/** 132 bits of SHA-256, in 22 characters: two texts that differ in a bit never meet. */
export function digest(text: string): string {
  return hash('sha256', text, 'base64url').slice(0, 22);
}
