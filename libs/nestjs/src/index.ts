export { covers, isWithin, typeOfOwner, type AccessLimits, type LimitedJob } from './access/access-limits.js';
export type {
  Artifact,
  ArtifactBytes,
  ArtifactOptions,
  ArtifactRange,
  ArtifactStore,
} from './artifacts/artifact-store.js';
export {
  AuditLog,
  type AuditEntry,
  type AuditFilter,
  type AuditPage,
  type AuditRecord,
} from './audit/audit-log.js';
export { CommittedArtifacts } from './artifacts/committed-artifacts.js';
export type { RunArtifacts } from './artifacts/run-artifacts.js';
export { receiptOf } from './enqueue/durable-answer.js';
export { slotKeyOfCallers, type EnqueueOptions } from './enqueue/enqueue-options.js';
export { Enqueuer, type EnqueueItem, type EnqueueTicket } from './enqueue/enqueuer.js';
export { JobRequests, type JobRequest } from './enqueue/job-requests.js';
export { originOf, type JobOrigin } from './enqueue/job-origin.js';
export {
  ArtifactUnavailableError,
  ChildRemovedError,
  meansUnavailable,
  NoArtifactStoreError,
  NotDelayedError,
  NotFailedError,
  NotWaitingError,
  RunOverError,
  SandboxEndedError,
  StoreUnavailableError,
  TooLargeError,
  UnknownKindError,
} from './errors.js';
export type { ChildOutcome } from './flows/children.js';
export { CHILD_POLICIES, MAX_FLOW_DEPTH, MAX_FLOW_JOBS, type ChildPolicy, type Flow } from './flows/flow.js';
export { JobFinder, type JobList } from './find/job-finder.js';
export { FlowTrees, type FlowNode, type FlowTree } from './find/flow-trees.js';
export { JobContents, type JobLines, type JobPayload } from './find/job-contents.js';
export type { JobFilter } from './find/job-filter.js';
export { KindList, type KindView } from './find/kind-list.js';
export type { ListedJob } from './find/listed-job.js';
export { OwnerFinder, type ListedOwner, type OwnerFilter, type OwnerPage } from './find/owner-finder.js';
export { fromCursor, toCursor } from './find/page-cursor.js';
export { WorkerList, type WorkerView } from './find/worker-list.js';
export { Flows, type FlowTicket } from './flows/flows.js';
export { artifactsIdOf, jobIdFor, jobIdOfArtifacts, newJobId, queueOfJobId } from './kinds/job-ids.js';
export { JobRetention } from './kinds/job-retention.js';
export { KindRegistry } from './kinds/kind-registry.js';
export {
  defineKind,
  STRATEGIES,
  type DedupOptions,
  type KeepOptions,
  type Kept,
  type Kind,
  type KindOptions,
  type Payload,
  type PayloadIn,
} from './kinds/kind.js';
export { Outbox } from './events/outbox.js';
export { JobHistory, type RemovedJob } from './history/job-history.js';
export { JobLog, type JobEvent, type LogLine } from './history/job-log.js';
export { TIMELINE_EVENTS, type TimelineEntry } from './history/timeline.js';
export type { Fact, FactListener, JobFacts, WorkloadFact } from './journal/fact.js';
export { levelOf } from './journal/fact-level.js';
export { Journal } from './journal/journal.js';
export { JournaledOwners } from './journal/journaled-owners.js';
export { MooringModule } from './mooring.module.js';
export {
  MOORING_OPTIONS,
  type ForQueueOptions,
  type KindWorkerOptions,
  type MooringAsyncOptions,
  type MooringOptions,
  type Publisher,
  type SweepOptions,
} from './options.js';
export { Consumption } from './run/consumption.js';
export { FailedForGood } from './run/failed-for-good.js';
export { Handler, Handles, kindOf } from './run/handler.js';
export { KindProcessor } from './run/kind-processor.js';
export { RunTimedOut } from './run/run-timed-out.js';
export { RunningJobs, type RunningJob } from './run/running-jobs.js';
export { Run, type RunReports } from './run/run.js';
export type { RunStop, StopReason } from '#core/parts';
export { OwnerCheck } from './resolvers/owner-check.js';
export { OwnerLives } from './resolvers/owner-lives.js';
export { OwnerResolver, ResolvesOwners, type Canaries, type OwnerLife } from './resolvers/owner-resolver.js';
export type { Lives } from './resolvers/resolver-answer.js';
export { Resolvers } from './resolvers/resolvers.js';
export type { SandboxHandler, SandboxRun } from './run/sandboxed-kind.js';
export { SnoozeJob } from './run/snooze-job.js';
export { Schedules, type ScheduleOptions } from './schedules/schedules.js';
export type { ScheduleView } from './schedules/schedule.js';
export { SkipJob } from './run/skip-job.js';
export { Waker } from './run/waker.js';
export { JobCanceller } from './cancel/job-canceller.js';
export { viewOfReceipt, type QueueReceipt, type ReceiptView } from './cancel/receipt-view.js';
export { ArtifactReader } from './read/artifact-reader.js';
export { JobReader } from './read/job-reader.js';
export { JOB_STATES, type JobView, type JobViewState } from './read/job-view.js';
export { OwnerReader, type OwnedJob, type OwnerView } from './read/owner-reader.js';
export { LoadReader, type QueueLoad } from './read/load-reader.js';
export { QueueReader, type QueueView } from './read/queue-reader.js';
export {
  OPERATION_ACTIONS,
  OPERATION_RUN_STATES,
  OPERATION_STATES,
  type OperationFilter,
  type OperationOrder,
  type OperationView,
} from './operations/operation.js';
export { Operations } from './operations/operations.js';
export { OperationWorker } from './operations/operation-worker.js';
export { JobMover } from './repair/job-mover.js';
export { JobRetrier, type RetryRequest } from './repair/job-retrier.js';
export { MooringSetupError } from './setup-error.js';
export { JobKeeper, Keeps, type FinishedJob } from './sweeps/retention/job-keepers.js';
export { Quarantine, type Quarantined } from './sweeps/retention/quarantine.js';
export {
  SweepBook,
  type SweepOrder,
  type SweepRecord,
  type SweepState,
  type TrippedSweep,
} from './sweeps/sweep-book.js';
export { Sweep, type Page, type Round, type SweepLine } from './sweeps/sweep.js';
export { Sweeper } from './sweeps/sweeper.js';
