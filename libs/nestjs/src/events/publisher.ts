import type { Fact } from '../journal/fact.js';

/** Tells other services what happened: something of the application, such as a writer of a stream. */
export interface Publisher {
  /** Whether the fact was written, for good; nothing for a fact that other services are not told. The same fact may come twice. */
  publish(fact: Fact): Promise<boolean> | undefined;
}
