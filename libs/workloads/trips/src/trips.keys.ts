/*
 * Every key of this workload. All begin with `<prefix>:{trips}`, one Cluster slot: a trip and its drivers change in one step, so
 * that no trip is accepted twice and no driver has two, whoever asks at the same moment.
 *
 *  key               type    holds                                            written by               ends
 *  …:trip:<id>       hash    the trip (see trip.lua)                          create, accept, finish   expires, a day after its end
 *  …:key:<digest>    string  the trip that an Idempotency-Key asked for       create, finish           expires with its trip; with a trip
 *                                                                                                      that was refused at once
 *  …:driver:<id>     hash    available 1|0; trip, offer: what the driver has  driver, offer, accept,   expires, a day after he went offline
 *                                                                             finish, decline          or the trip that outlasts it ended
 *  …:line:<driver>   zset    <trip> -> when it was made: whose requests wait  offer, pass, finish,     empties with the trips
 *                            for the driver                                   driver
 *  …:offers:<driver> stream  what the driver is shown: see look.lua           offer, accept, finish,   expires, an hour after the newest, or
 *                                                                             driver, decline          after the offer that stood longest;
 *                                                                                                      entries of the last hour, 1000 at most
 *  …:due             zset    <trip> -> when the care looks at it, ms          create, due, tended,     tended: what is over and tidied up;
 *                                                                             accept, finish           empties with the trips
 *  …:away            zset    <driver> -> when he went offline, ms: whose      driver, taken            taken: his requests are taken back
 *                            requests are to be taken back
 *
 *  A channel of the name of a driver's stream is told of each entry.
 */

/** What all keys begin with, and what each script is given. */
export function rootKey(prefix: string): string {
  return `${prefix}:{trips}`;
}

export function tripKey(root: string, id: string): string {
  return `${root}:trip:${id}`;
}

/** The stream of a driver, and the channel that tells of it. */
export function offersOf(root: string, driverId: string): string {
  return `${root}:offers:${driverId}`;
}
