/*
 * Every key of this library. All are streams that persist.
 *
 *  key                   holds                                          written by           bounded by
 *  <prefix>:events:in    `event`: CloudEvents of other services         other services       tidy.lua, which removes acknowledged entries
 *  <prefix>:events:dead  `event`, `entry`, `reason`: dead letters       event-consumer.ts    DEAD_LETTERS_KEPT
 *  <prefix>:events:out   `event`: CloudEvents about owners and jobs     stream-publisher.ts  its option `keep`
 */

/** Approximate number of dead letters to keep. */
export const DEAD_LETTERS_KEPT = 10_000;

export function eventsIn(prefix: string): string {
  return `${prefix}:events:in`;
}

export function eventsDead(prefix: string): string {
  return `${prefix}:events:dead`;
}

export function eventsOut(prefix: string): string {
  return `${prefix}:events:out`;
}
