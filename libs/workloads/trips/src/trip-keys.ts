/*
 * Every key of this workload. All begin with `<prefix>:{trips}`, one Cluster slot, so that one script can change a trip and its
 * drivers: concurrent calls cannot accept a trip twice or give a driver two.
 *
 *  key               type    holds                                     written by               ends
 *  …:trip:<id>       hash    the trip (see trip.lua)                   create, accept, finish   expires a day after the trip's end
 *  …:key:<digest>    string  the trip created for an Idempotency-Key   create, finish           expires with its trip; deleted if the trip
 *                                                                                               was refused
 *  …:driver:<id>     hash    available 1|0; trip, offer: the driver's  driver, offer, accept,   expires a day after the driver went
 *                            current ones                              finish, decline          offline, or after a trip that outlasts it
 *  …:line:<driver>   zset    <trip> -> its creation, ms: the driver's  offer, pass, finish,     empties with the trips
 *                            queue of requests                         driver
 *  …:offers:<driver> stream  the driver's events: see look.lua         offer, accept, finish,   expires an hour after the newest event or
 *                                                                      driver, decline          the last standing offer; keeps the last
 *                                                                                               hour, at most 1000 entries
 *  …:due             zset    <trip> -> when the reconciler checks it,  create, due, accept,     mark-checked: the trip is over and its
 *                            ms                                        finish, mark-checked     jobs are removed
 *  …:away            zset    <driver> -> when they went offline, ms:   driver, mark-withdrawn   mark-withdrawn: the requests are withdrawn
 *                            their requests are to withdraw
 *
 *  Each entry of a driver's stream is announced on a channel with the stream's name.
 */

export function tripKey(root: string, id: string): string {
  return `${root}:trip:${id}`;
}

/** The driver's stream, and the channel that announces its entries. */
export function offersOf(root: string, driverId: string): string {
  return `${root}:offers:${driverId}`;
}
