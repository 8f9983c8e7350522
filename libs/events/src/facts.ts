import type { EventResult } from './intake.js';

/** A thing that happened with events, as fields. */
export type EventFact =
  | ({ readonly event: 'event.taken'; readonly type: string } & EventResult)
  | { readonly event: 'event.dead'; readonly entry: string; readonly why: string }
  | { readonly event: 'events.trouble'; readonly why: string }
  | { readonly event: 'events.lost'; readonly count: number; readonly why: string };

export type EventListener = (fact: EventFact) => void;
