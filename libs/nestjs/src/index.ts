export { Enqueuer, type EnqueueTicket } from './enqueue/enqueuer.js';
export type { EnqueueOptions } from './enqueue/enqueue-options.js';
export { TooLargeError, UnknownKindError } from './errors.js';
export { defineKind, type Kind, type KindOptions, type Payload, type PayloadIn } from './kinds/kind.js';
export { Handler, Handles } from './run/handler.js';
export { KindProcessor } from './run/kind-processor.js';
export { SnoozeJob } from './run/snooze-job.js';
export type { Run } from './run/run.js';
