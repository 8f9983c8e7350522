import type { Cluster, Redis } from 'ioredis';
import { EventMapping } from './event-mapping.js';
import type { EventFact, EventListener } from './facts.js';

/** Options of the application, beside those of `MooringModule`. This library reads no environment variables. */
export abstract class EventOptions {
  abstract readonly mapping: EventMapping;
  /** Where the stream of inbound events is. Only a process that reads it needs this. */
  readonly stream?: { readonly redis: Redis | Cluster; readonly prefix: string };
  /** Receive every event fact. */
  readonly listeners?: readonly EventListener[];
  /** How long an entry may be idle in one process before another takes it over. Default 15 s. */
  readonly takeOverMs?: number;
  /** How long a consumer without entries may be idle before it is removed. Default 10 min. */
  readonly forgetMs?: number;
}

export const EVENT_DEFAULTS = { takeOverMs: 15_000, forgetMs: 600_000 } as const;

/** What happened has happened, whether or not a listener fails. */
export function notify({ listeners = [] }: Pick<EventOptions, 'listeners'>, fact: EventFact): void {
  for (const listener of listeners) {
    try {
      listener(fact);
    } catch (error) {
      process.emitWarning(error instanceof Error ? error : String(error));
    }
  }
}
