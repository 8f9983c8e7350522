/*
 * Every key of this room. Each is a stream, and each stays.
 *
 *  key                   holds                                              written by           is kept short by
 *  <prefix>:events:in    `event`: CloudEvents, from whoever may write here  other services       tidy.lua: what is acknowledged goes
 *  <prefix>:events:dead  `event`, `entry`, `reason`: those given up          event-consumer.ts    DEAD_KEEP
 *  <prefix>:events:out   `event`: CloudEvents about owners and jobs         stream-publisher.ts        its option `keep`
 */

/** How many of the entries that were given up are kept, about. */
export const DEAD_KEEP = 10_000;

export function eventsIn(prefix: string): string {
  return `${prefix}:events:in`;
}

export function eventsDead(prefix: string): string {
  return `${prefix}:events:dead`;
}

export function eventsOut(prefix: string): string {
  return `${prefix}:events:out`;
}
