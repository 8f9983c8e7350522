/*
 * Every key of this workload. All begin with `<prefix>:{leases}`, one Cluster slot: a lease, its deadline and its place change in
 * one step. How many leases there are is bounded by LEASE_LIMIT, and by what is kept of those that are over.
 *
 *  key               type    holds                                             written by                  ends
 *  …:lease:<id>      hash    the lease (see lease.lua)                         create, and all that follow  expires, LEASE_KEEP_MS after its end;
 *                                                                                                          never before
 *  …:key:<digest>    string  the lease that an Idempotency-Key asked for         create                      expires with its lease; drop
 *  …:until           zset    <lease> -> its deadline, ms; when it was ended     create, renew, claim, close  ended, drop: a lease has its place for
 *                            early, that time. Who is in it has a place                                    as long as its container may be there
 *  …:due             zset    <lease> -> when the care looks at it next, ms      all but retention            tidied, drop; empties with the leases
 *  …:all             zset    <lease> -> its number: all that can be read        create                      drop; ended and due forget the old
 *  …:is:<state>      zset    likewise, those in a state                         create, and all that follow  likewise
 *  …:over            zset    <lease> -> when it ended, ms                       ended                       ended, due: LEASES_KEPT at most
 *  …:of:<digest>     set     leases that an owner takes down with it            create                      ended, drop; empties with them
 *  …:number          string  the last number given                             create                      never; one
 *  …:secret          string  what containers of this fleet are signed with,     fleet.signature.ts           never; one
 *                            where LEASE_SECRET does not say
 *
 *  Elsewhere, by libs/lifecycle/src/keys.ts: the owner of a lease that is over stays closed for CLOSED_KEEP_MS, and the receipts of
 *  its cancel, and of the cancel of its owner's job, are kept for receiptKeepMs.
 */

import { hash } from 'node:crypto';

/** How long a lease that is over can be read, and how many of them. */
export const LEASE_KEEP_MS = 86_400_000;
export const LEASES_KEPT = 1_000;

/** Every lease has one of these; `lease:42` is somebody else's lease, of which nothing is known here. */
const LEASE_ID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;

/** What all keys begin with, and what each script is given. */
export function rootKey(prefix: string): string {
  return `${prefix}:{leases}`;
}

export function leaseKey(root: string, id: string): string {
  return `${root}:lease:${id}`;
}

/** The leases of an owner. A raw id is never part of a key. */
export function ownedKey(root: string, owner: string): string {
  return `${root}:of:${digestOf(owner)}`;
}

export function digestOf(text: string): string {
  return hash('sha256', text, 'base64url').slice(0, 22);
}

export function isLeaseId(text: string): boolean {
  return LEASE_ID.test(text);
}
