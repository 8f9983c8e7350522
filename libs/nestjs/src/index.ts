export { Enqueuer, type EnqueueTicket } from './enqueue/enqueuer.js';
export type { EnqueueOptions } from './enqueue/enqueue-options.js';
export { TooLargeError, UnknownKindError } from './errors.js';
export { defineKind, type Kind, type KindOptions, type Payload, type PayloadIn } from './kinds/kind.js';
export { Outbox } from './events/outbox.js';
export type { Publisher } from './events/publisher.js';
export { JobHistory, type Removal, type RemovedJob } from './history/job-history.js';
export { JobLog, type JobEvent, type LogLine } from './history/job-log.js';
export { TIMELINE_EVENTS, type TimelineEntry } from './history/timeline.js';
export type { Fact, FactListener, JobFacts, WorkloadFact } from './journal/fact.js';
export { levelOf } from './journal/fact-level.js';
export { Journal } from './journal/journal.js';
export { JournaledOwners } from './journal/journaled-owners.js';
export { MooringModule } from './mooring.module.js';
export type {
  ForQueueOptions,
  KindWorkerOptions,
  MooringAsyncOptions,
  MooringOptions,
  SweepOptions,
} from './options.js';
export { Consumption } from './run/consumption.js';
export { FailedForGood } from './run/failed-for-good.js';
export { Handler, Handles } from './run/handler.js';
export { KindProcessor } from './run/kind-processor.js';
export { RunTimedOut } from './run/run-timed-out.js';
export { RunningJobs, type RunningJob } from './run/running-jobs.js';
export type { Run } from './run/run.js';
export { SkipJob } from './run/skip-job.js';
export { SnoozeJob } from './run/snooze-job.js';
export { StartCheck } from './run/start-check.js';
export { Waker } from './run/waker.js';
export { MooringSetupError } from './setup-error.js';
