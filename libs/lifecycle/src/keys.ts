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
 *  o:cancels                  hash    <cancel> -> up to which epoch it ended; or  cancel             finish
 *                                     `j<job> …`: clean-ups that are not done
 *  o:cancel:<cancel>          hash    the receipt (see receipts.ts)              cancel, drop, along, expires, receiptKeepMs; of one that
 *                                                                                answered, finish     ended nothing: empties
 *  o:schedules                hash    <schedule> -> `<epoch>|<change>`: those    moor, unmoor         empties with them; stray ones: the tick
 *                                     that are its own; they keep the record
 *  o:history                  list    what was removed and why, newest first     drop                 expires; HISTORY_LINES at most
 *  o:reap                     hash    <job> -> `<since>|<failures>|<held, or at  reap                 done; left ones: retention, by the list
 *                                     rest, until, ms>|<by whom>|<why>`                              below
 *  <prefix>:{slot:<digest>}   zset    `<job>|<token>`, or `<job>|` for a grant -> end of its hold, ms  take                 empties; stale ones: take
 *  …:waiters                  zset    <job> -> its place in the line            take                 empties; gone ones: quit
 *  …:limit                    string  of a caller's key: its limit              slot-limit, take     expires, LIMIT_KEEP_MS after its last use
 *  <prefix>:{queue:<name>}    hash    n: how many jobs wait; v: version         depth                never; the janitor's census mends n
 *  <prefix>:{idem:<digest>}   string  an Idempotency-Key's body, and its job's id  idempotency.ts     expires, 24 h
 *  …:answer                   string  what was answered to it                   idempotency.ts       expires, 24 h
 *  <prefix>:{queue:<name>}:mended  string  a janitor mends its count             depth.census.ts      expires, 5 s
 *
 *  <prefix>:{cancels}         zset    <cancel> -> when it is looked at next, ms  intent               done, forget; empties with the clean-ups
 *  …:<cancel>                 string  what it cancels: owner, job, cancelId      intent               expires, receiptKeepMs; forget, empties
 *  …:untold                   zset    <cancel> -> since when, ms: other services  intent               News, when they are; forget; empties;
 *                                     are not told of its end yet                                    left ones: repair. Expires; UNTOLD_KEPT
 *                                                                                                    at most
 *  …:empty                    zset    <cancel> -> when, ms: those that ended nothing  empties              expires; EMPTY_RECEIPTS_KEPT at most
 *  …:closed                   zset    <owner digest> -> when it was closed, ms: those  empties        expires; purge; those older than
 *                                     that never had a job                                            CLOSED_KEEP_MS go
 *  …:told                     stream  what was cancelled, for running jobs       tell                 never; bounded
 *  <prefix>:{schedules}       zset    <schedule> -> when it is looked at next, ms  plan, claim, turn, strike  empties with the schedules
 *  …:<schedule>               hash    the schedule (see schedule.book.ts)       plan, turn, strike   strike, and the tick after it
 *  <prefix>:{gone:<queue>}    hash    <job> -> why it was removed                remember             expires; bounded in number, bytes and age
 *  …:at                       zset    <job> -> when, ms                          remember             likewise
 *  …:over, …:over:at          likewise  those that were over their kind's measure: far more than were cancelled  remember  likewise
 *
 *  <prefix>:{owners:<k>}      zset    owners that have jobs, by name, 16 parts      list, unlist         orphans: those without jobs leave
 *  …:leaving                  hash    owner -> by whose word it is to leave      the directory        list, unlist
 *  …:gone                     hash    owner -> `<epoch>|<counter>|<since>`: seen  sight               any other answer; unlist
 *                                     to be gone
 *  …:gone:fence               string  under which fence that was written last    sight                expires, SWEEP_KEEP_MS
 *  <prefix>:{reaping}         zset    `<job> <owner>`: marked, or about to be    retention            its end; left ones: retention
 *                                     -> since when, ms
 *  <prefix>:{quarantine}      zset    <job> -> since when, ms: cannot be removed  retention            retention with force
 *  …:why                      hash    <job> -> why                               retention            likewise
 *  <prefix>:{due:<k>}         zset    `<job>|<life>|<owner>` -> when it may be too   the producer, due    due, when it is so late; the end of the job
 *                                     late to start, ms; a hint, 16 parts
 *  <prefix>:{sweeps}:of:<sort>  zset  <sweep> -> when it was first written, ms   save                 bounded in number
 *  …:of:<sort>:bytes          hash    <sweep> -> how long its lines are           save                 expires, SWEEP_KEEP_MS
 *  …:<sweep>                  string  its record, as JSON                        save                 expires, SWEEP_KEEP_MS
 *  …:<sweep>:lines            list    what went by it, as JSON                   save                 expires, SWEEP_KEEP_MS; bounded in number
 *                                                                                                     and, over a sort, in bytes
 *  …:<sweep>:doomed           hash    owner -> as what it was seen to be gone    orphans              expires, SWEEP_KEEP_MS
 *  …:at                       hash    sort -> `<sweep>|<where it is>`            save                 its sweep's end
 *  …:untold                   zset    <sweep> -> when it was over, ms: other      save                 News, when they are; with the record; left
 *                                     services are not told of it yet                                ones: repair. Expires
 *  …:asked                    zset    <sweep> -> when it was asked for, ms       the sweep book       save, at its end
 *  …:tripped                  hash    sort -> why it removes nothing             the sweep book       a sweep with force
 *  …:walks                    hash    walk -> where it is, of what takes several     the walks          the walk's end; bounded
 *                                     sweeps
 *  …:lock:<sort>              string  `<fence>|<token>`                          lock                 expires; give
 *  …:lock:<sort>:fence        string  the last fence given                       lock                 never; one a sort
 *
 *  {<prefix>}:<queue>:misplaced:<word>:<ms>  hash  a job of another program's whose id is a word of BullMQ's keys, as it was;  misplaced  expires,
 *                                     it stood at {<prefix>}:<queue>:<word>                             MISPLACED_KEEP_MS
 *
 *  What handlers leave behind has keys of its own, in libs/artifacts; they are not known here. Nor are those by which a process
 *  knows its store, in libs/runtime: <prefix>:{marker} and <prefix>:{barrier}; on a Cluster one for each master.
 *  <cancel> is the digest of a cancelId, <schedule> of a schedule's id.
 *  The record's own fields: e epoch, v reserve counter, l time of the last reserve, o the owner as written, n fence counter,
 *  s open|closed, or `open <since>` when it was reopened. Every further field is
 *  `j<job>` -> `<epoch>|<last wanted at, ms>|<newest fence>|<token of that run>`, and `|<job it replaced>` behind it when there
 *  was one; epoch 0 when the job alone was cancelled.
 */

/** How long the record of an owner without jobs or schedules is kept: longer than any clock or retry can be late. */
export const RECORD_KEEP_MS = 3_600_000;
/** How long a closed owner is remembered as closed. */
export const CLOSED_KEEP_MS = 30 * 86_400_000;
/**
 * How long whoever cleans an index leaves a place alone that has no job: its producer may be about to add it. A producer
 * gives up when half of it has passed.
 */
export const PLACE_GRACE_MS = 5_000;
/** How many receipts are kept of cancels that ended nothing, of owners for which nothing was ever enqueued. */
export const EMPTY_RECEIPTS_KEPT = 1_000;
/** How many cancels are listed until other services are told of them; of more, the oldest are told by chance. */
export const UNTOLD_KEPT = 100_000;
/** How long whoever ended something has to tell other services, until somebody else does. */
export const UNTOLD_GRACE_MS = 60_000;
/** How many lines of history an owner has, and how many removed jobs of a queue are remembered. */
export const HISTORY_LINES = 1_000;
export const REMOVALS_KEPT = 10_000;
/** How many bytes they take together. */
export const REMOVALS_BYTES = 2 * 1_024 * 1_024;
/** How long what a sweep did is kept, of how many sweeps of a sort, and how many things it names. */
export const SWEEP_KEEP_MS = 7 * 86_400_000;
export const SWEEPS_KEPT = 200;
export const SWEEP_LINES = 10_000;
/** How long a job is kept that stood at a key of BullMQ's own. */
export const MISPLACED_KEEP_MS = 30 * 86_400_000;
/** How many bytes the lines of all kept sweeps of a sort take together; those of the oldest go first. */
export const SWEEP_LINES_BYTES = 2 * 1_024 * 1_024;
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

  /** The keys of these owners' records. */
  records(owners: readonly string[]): string[] {
    return owners.map((owner) => this.ownerText(owner));
  }

  slot(key: string): string {
    return `${this.prefix}:{slot:${digest(key)}}`;
  }

  queue(name: string): string {
    return `${this.prefix}:{queue:${name}}`;
  }

  /** What is being cancelled, over all owners. */
  get cancels(): string {
    return `${this.prefix}:{cancels}`;
  }

  /** Which owners are closed that never had a job, by digest, and since when. */
  get closedOwners(): string {
    return `${this.cancels}:closed`;
  }

  /** When which schedule is due, over all owners. */
  get schedules(): string {
    return `${this.prefix}:{schedules}`;
  }

  /** A part of the list of owners that have jobs. */
  owners(shard: number): string {
    return `${this.prefix}:{owners:${shard}}`;
  }

  /** A part of the list of jobs that may be too late at a time. */
  due(shard: number): string {
    return `${this.prefix}:{due:${shard}}`;
  }

  /** What sweeps did, and where they are. */
  get sweeps(): string {
    return `${this.prefix}:{sweeps}`;
  }

  /** Finished jobs that are being removed. */
  get reaping(): string {
    return `${this.prefix}:{reaping}`;
  }

  /** Finished jobs that could not be removed. */
  get quarantine(): string {
    return `${this.prefix}:{quarantine}`;
  }

  gone(queue: string): string {
    return `${this.prefix}:{gone:${queue}}`;
  }

  /** Those that went because they were over their kind's measure. */
  goneOver(queue: string): string {
    return `${this.gone(queue)}:over`;
  }

  idempotency(key: string): string {
    return `${this.prefix}:{idem:${digest(key)}}`;
  }
}

/** Where such a job goes: beside the queue's keys, in their slot. BullMQ has no key of that form. */
export function misplacedKey(queue: { toKey(type: string): string }, word: string, nowMs: number): string {
  return queue.toKey(`misplaced:${word}:${nowMs}`);
}

/** 132 bits of SHA-256, in 22 characters: two texts that differ in a bit never meet. */
export function digest(text: string): string {
  return hash('sha256', text, 'base64url').slice(0, 22);
}
