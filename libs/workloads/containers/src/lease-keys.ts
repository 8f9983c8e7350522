/*
 * Every key of this workload. All begin with `<prefix>:{leases}`, one Cluster slot, so that a lease, its deadline and its place
 * change in one step. The number of leases is bounded by LEASE_LIMIT and by the retention of ended ones.
 *
 *  key               type    holds                                             written by                  ends
 *  …:lease:<id>      hash    the lease (see lease.lua)                         create and all others       expires LEASE_KEEP_MS after its end;
 *                                                                                                          never before
 *  …:key:<digest>    string  the lease created for an Idempotency-Key          create                      expires with its lease; drop
 *  …:until           zset    <lease> -> its deadline, ms, or its early end.    create, renew, claim, close  ended, drop: a lease keeps its place for
 *                            Members hold a place                                                          as long as its container may exist
 *  …:due             zset    <lease> -> when the reconciler checks it, ms      all but retention           tidied, drop; empties with the leases
 *  …:all             zset    <lease> -> its number: all readable leases        create                      drop; ended and due remove old ones
 *  …:is:<state>      zset    the same, per state                               create and all others       the same
 *  …:over            zset    <lease> -> when it ended, ms                      ended                       ended, due: LEASES_KEPT at most
 *  …:of:<digest>     set     leases that end with an owner                     create                      ended, drop; empties with them
 *  …:number          string  the last number assigned                          create                      never; one key
 *  …:secret          string  signing key of this fleet's containers, unless    lease-repository.ts         never; one key
 *                            LEASE_SECRET is set
 *
 *  Elsewhere, among the core's keys: the owner of an ended lease stays closed for 30 days, and the receipts of its cancel, and of
 *  the cancel of its owner's job, are kept for `receiptKeep`.
 */

import { hash } from 'node:crypto';

/** How long, and how many, ended leases can be read. */
export const LEASE_KEEP_MS = 86_400_000;
export const LEASES_KEPT = 1_000;

export function leaseKey(root: string, id: string): string {
  return `${root}:lease:${id}`;
}

/** The leases of an owner. The owner's id is hashed, so that no caller's text becomes part of a key. */
export function ownedKey(root: string, owner: string): string {
  return `${root}:of:${digestOf(owner)}`;
}

export function digestOf(text: string): string {
  return hash('sha256', text, 'base64url').slice(0, 22);
}
