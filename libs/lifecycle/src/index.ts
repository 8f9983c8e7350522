export { Enqueuer, type EnqueueOptions, type Ticket } from './enqueue/enqueuer.js';
export * from './errors.js';
export { Journal, type Fact, type JournalListener } from './journal.js';
export type { JobFacts } from './kinds/job-facts.js';
export { KindRegistry } from './kinds/kind.registry.js';
export {
  defineKind,
  type Backoff,
  type Kind,
  type KindOptions,
  type Payload,
  type PayloadIn,
} from './kinds/kind.js';
export { formatOwner, owner, parseOwner, type Owner } from './kinds/owner.js';
export { LifecycleModule, type LifecycleAsyncOptions } from './lifecycle.module.js';
export { LIFECYCLE_DEFAULTS, LifecycleOptions, type WorkerOptions } from './options.js';
export { JobReader, type JobView, type JobViewState, type TimelineEntry } from './read/job.reader.js';
export { QueueCensus, type QueueCount } from './read/queue.census.js';
export { Consumption } from './run/consumption.js';
export { Handler, Handles } from './run/handler.js';
export type { Run } from './run/run.js';
export { RunningJobs, ShuttingDown } from './run/running-jobs.js';
