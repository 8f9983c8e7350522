export { Enqueuer, type EnqueueTicket } from './enqueue/enqueuer.js';
export type { EnqueueOptions } from './enqueue/enqueue-options.js';
export {
  ArtifactUnavailableError,
  StoreUnavailableError,
  TooLargeError,
  UnknownKindError,
} from './errors.js';
export { defineKind, type Kind, type KindOptions, type Payload, type PayloadIn } from './kinds/kind.js';
export { MooringModule } from './mooring.module.js';
export type { ForQueueOptions, MooringAsyncOptions, MooringOptions, SweepOptions } from './options.js';
export { Handler, Handles } from './run/handler.js';
export { KindProcessor } from './run/kind-processor.js';
export type { Run } from './run/run.js';
export { SnoozeJob } from './run/snooze-job.js';
export { JobCanceller } from './cancel/job-canceller.js';
export { viewOfReceipt, type QueueReceipt, type ReceiptView } from './cancel/receipt-view.js';
export {
  ArtifactReader,
  READABLE_ARTIFACTS,
  type Artifact,
  type ArtifactRange,
  type ReadableArtifacts,
} from './read/artifact-reader.js';
export { JobHistory, TIMELINE_EVENTS, type RemovedJob, type TimelineEntry } from './read/job-history.js';
export { JobReader } from './read/job-reader.js';
export { JOB_STATES, type JobView, type JobViewState } from './read/job-view.js';
export { OwnerHistory, type HistoryItem, type HistoryView } from './read/owner-history.js';
export { OwnerReader, type OwnedJob, type OwnerView } from './read/owner-reader.js';
export { QueueReader, type QueueView } from './read/queue-reader.js';
export { SlotLimits, slotKeyOfCallers, type CallersSlot } from './read/slot-limits.js';
export { MooringSetupError } from './setup-error.js';
