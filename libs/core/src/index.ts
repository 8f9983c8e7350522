export type { Durability, DurabilityLevel } from '#durability';
export type { DurabilityOptions } from './backend/durable-writes.js';
export { MooredFlowProducer, type MooredFlowOptions } from './flow/moored-flow-producer.js';
export {
  CancelConflictError,
  CancelLostError,
  ClosedOwnersFullError,
  DuplicateJobError,
  DurabilityUnknownError,
  IdempotencyConflictError,
  InvalidJobError,
  JobNotEndedError,
  JobNotFoundError,
  MooringError,
  OwnerCancelledError,
  OwnerClosedError,
  OwnerFullError,
  PartitionsError,
  QueueFullError,
  SlotLimitError,
  StoreFullError,
} from './model/errors.js';
export type { FairTurns } from './model/fair-turns.js';
export type { JobLimits } from './model/job-limits.js';
export type { Dedup, Idempotency, OwnedJobOptions, Rate, Slot } from './model/job-options.js';
export type { OwnersOf, UnownedJob } from './model/owners-of.js';
export { formatOwner, owner, parseOwner, type Owner } from './model/owner.js';
export type { RunOptions } from './model/run-options.js';
export type { CancelOptions } from './owners/cancel-options.js';
export type { SeenOwner } from './owners/canceller.js';
export type { HistoryEntry } from './owners/history.js';
export type {
  ListOptions,
  OwnerJob,
  OwnerList,
  OwnerSummary,
  OwnerView,
  ReceiptList,
  ReceiptListOptions,
  UnderWay,
} from './owners/owner-reader.js';
export { Owners, type OwnersOptions, type Reopened, type ReopenOptions } from './owners/owners.js';
export type { Receipt } from './owners/receipt.js';
export type { RetriedJobs, RetryFilter } from './queue/bulk-retry.js';
export { MooredQueue, type MooredQueueOptions } from './queue/moored-queue.js';
export { Slots, type SlotJob, type SlotsOptions, type SlotView } from './slots/slots.js';
export type { Adoption, AdoptOptions } from './sweeps/adoption.js';
export type { Ticket } from './backend/ticket.js';
export { MooredWorker, type MooredWorkerOptions } from './worker/moored-worker.js';
export type { MooredWorkerListener, RefusedJob } from './worker/worker-events.js';
