import type { EventResult } from './intake.js';

/** Something that happened to events, as fields of a log line. */
export type EventFact =
  | ({ readonly event: 'event.taken'; readonly type: string } & EventResult)
  | { readonly event: 'event.dead'; readonly entry: string; readonly why: string }
  | { readonly event: 'events.trouble'; readonly why: string }
  | { readonly event: 'events.lost'; readonly count: number; readonly why: string };

export type EventListener = (fact: EventFact) => void;
