import type { Fact } from '../journal.js';

/** Tells other services what happened: a thing of the application's, as `EventsOut` is. */
export interface Teller {
  /** Whether it tells of owners that were cancelled, and of sweeps: what is told is listed until it is. */
  readonly tellsCancels: boolean;
  readonly tellsSweeps: boolean;
  /** Takes every fact at once. Of one that has a lasting record: whether it was told, for good; nothing when it is no news. */
  record(fact: Fact): Promise<boolean> | undefined;
}
