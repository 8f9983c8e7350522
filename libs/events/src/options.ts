import { EventMapping } from './event-mapping.js';
import type { EventListener } from './facts.js';

/** What this room is handed by the application, beside the options of the lifecycle. It reads no environment. */
export abstract class EventOptions {
  abstract readonly mapping: EventMapping;
  /** Everything that happens with events is told to these. */
  readonly listeners?: readonly EventListener[];
  /** How long an entry of the stream lies with a process that does nothing, until another takes it over. Default 15 s. */
  readonly takeOverMs?: number;
  /** After how long without a sign of life a consumer that holds nothing is forgotten. Default 10 min. */
  readonly forgetMs?: number;
}

export const EVENT_DEFAULTS = { takeOverMs: 15_000, forgetMs: 600_000 } as const;

export function tell(options: EventOptions, fact: Parameters<EventListener>[0]): void {
  for (const listener of options.listeners ?? []) listener(fact);
}
