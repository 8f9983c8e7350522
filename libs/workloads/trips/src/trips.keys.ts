/*
 * Every key of this workload. All begin with `<prefix>:{trips}`, one Cluster slot: a trip and its drivers change in one step, so
 * that no trip is accepted twice and no driver has two, whoever asks at the same moment.
 *
 *  key               type    holds                                            written by               ends
 *  …:trip:<id>       hash    the trip (see trip.lua)                          create, accept, finish   expires, TRIP_KEEP_MS after its end
 *  …:driver:<id>     hash    available 1|0; trip, offer: what the driver has  driver, offer, accept,   with the driver's availability, or
 *                                                                             finish, decline          the trip that outlasts it
 *  …:line:<driver>   zset    <trip> -> when it was made: whose requests wait  offer, finish, driver    empties with the trips
 *                            for the driver
 *  …:offers:<driver> stream  what the driver is shown: offer, withdrawn       offer, accept, finish,   expires, OFFERS_KEEP_MS after the
 *                                                                             driver, decline          newest; OFFERS_KEPT at most
 *  …:due             zset    <trip> -> when the care looks at it, ms          create, due, tended,     tended: what is over and tidied up;
 *                                                                             accept, finish           empties with the trips
 *
 *  A channel of the name of a driver's stream is told of each entry.
 */

/** How long a trip that is over can be read. */
export const TRIP_KEEP_MS = 86_400_000;
/** How long a phone may be away and still hear what it missed; an offer lives shorter. */
export const OFFERS_KEEP_MS = 3_600_000;
export const OFFERS_KEPT = 100;

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
