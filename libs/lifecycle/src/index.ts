export {
  JobArtifacts,
  type Artifact,
  type ArtifactBytes,
  type ArtifactMaker,
  type ArtifactOptions,
  type ArtifactPage,
  type ArtifactRange,
} from './artifacts/job.artifacts.js';
export type { RunArtifacts } from './artifacts/run.artifacts.js';
export { Canceller, type OwnerState } from './cancel/canceller.js';
export { CleanUps } from './cancel/clean-ups.js';
export { Turns } from './cancel/turns.js';
export type { CancelOptions } from './cancel/order.js';
export type { QueueReceipt, Receipt } from './cancel/receipts.js';
export type { Durability } from './durability.js';
export { DepthCensus, type Mended } from './enqueue/depth.census.js';
export { Enqueuer, type Ticket } from './enqueue/enqueuer.js';
export type { EnqueueOptions } from './enqueue/request.js';
export * from './errors.js';
export type { ChildOutcome } from './flows/children.js';
export { MAX_FLOW_DEPTH, MAX_FLOW_JOBS, type Flow } from './flows/flow.js';
export { Flows, type FlowTicket } from './flows/flows.js';
export { Removals, type HistoryView, type Removal } from './history/removals.js';
export { Journal, reason, type Fact, type JournalListener, type WorkloadFact } from './journal.js';
export { checkKey } from './kinds/check-key.js';
export type { JobFacts } from './kinds/job-facts.js';
export { CHILD_POLICIES, type ChildPolicy } from './kinds/envelope.js';
export { KindRegistry } from './kinds/kind.registry.js';
export {
  defineKind,
  STRATEGIES,
  type Backoff,
  type DedupOptions,
  type Kind,
  type KindOptions,
  type OwnersOf,
  type Payload,
  type PayloadIn,
  type SlotOptions,
} from './kinds/kind.js';
export type { Teller } from './news/teller.js';
export { formatOwner, owner, parseOwner, type Owner } from './kinds/owner.js';
export type { KindClass } from './kinds/priority.js';
export { LifecycleModule, type LifecycleAsyncOptions } from './lifecycle.module.js';
export { LIFECYCLE_DEFAULTS, LifecycleOptions, type WorkerOptions } from './options.js';
export { ArtifactReader } from './read/artifact.reader.js';
export { JobReader, type JobView, type JobViewState } from './read/job.reader.js';
export { OwnerReader, type OwnerView } from './read/owner.reader.js';
export { QueueCensus, type QueueCount } from './read/queue.census.js';
export { QueueReader, type QueueView } from './read/queue.reader.js';
export { TIMELINE_EVENTS, type TimelineEntry, type TimelineEvent } from './read/timeline.js';
export { MOST_OWNERS_AT_ONCE, OwnerLives, type Lives } from './resolvers/owner.lives.js';
export { OwnerResolver, ResolvesOwners, type Canaries, type OwnerLife } from './resolvers/owner.resolver.js';
export { Resolvers } from './resolvers/resolvers.js';
export { Consumption } from './run/consumption.js';
export { FailedForGood } from './run/failed-for-good.js';
export { Handler, Handles } from './run/handler.js';
export type { Run } from './run/run.js';
export { NotNow } from './run/not-now.js';
export { RunningJobs } from './run/running-jobs.js';
export type { SandboxHandler, SandboxRun } from './run/sandbox.words.js';
export { OwnerCancelled, RunLost, RunTimedOut, ShuttingDown, StopReason } from './run/stop-reasons.js';
export { SlotLimits, type SlotView } from './slots/slot-limits.js';
export { Waker } from './run/waker.js';
export { meansUnavailable, Store } from './store.js';
export { JobKeeper, Keeps, type FinishedJob } from './sweep/job.keeper.js';
export { Sweep, SWEEP_KINDS, type Page, type Round, type SweepKind, type SweepLine } from './sweep/sweep.js';
export { SweepBook, type Trip } from './sweep/sweep.book.js';
export type { SweepOrder, SweepRecord, SweepState } from './sweep/sweep.record.js';
export { Sweeper } from './sweep/sweeper.js';
export { Sweeps } from './sweep/sweeps.js';
export type { ScheduleOptions, ScheduleView } from './schedules/schedule.js';
export { Quarantine, type Quarantined } from './sweep/quarantine.js';
export { Schedules } from './schedules/schedules.js';
export { Ticker, type Ticked } from './schedules/ticker.js';
