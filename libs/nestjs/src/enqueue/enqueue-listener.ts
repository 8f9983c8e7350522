import type { EnqueueTicket } from './enqueuer.js';

/** Provide one to be told of every request that was accepted: of new jobs, and of requests that joined a pending one. */
export abstract class EnqueueListener {
  abstract enqueued(ticket: EnqueueTicket): void;
}
