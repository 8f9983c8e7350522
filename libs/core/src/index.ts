export type { Durability, DurabilityLevel, DurabilityOptions } from './durability/durability.js';
export {
  CancelConflictError,
  CancelLostError,
  ClosedOwnersFullError,
  DuplicateJobError,
  DurabilityUnknownError,
  InvalidJobError,
  JobNotEndedError,
  JobNotFoundError,
  MooringError,
  OwnerClosedError,
  OwnerFullError,
  PartitionsError,
  QueueFullError,
  SlotLimitError,
  StoreFullError,
} from './model/errors.js';
export type { JobLimits } from './model/job-limits.js';
export type { Dedup, OwnedJobOptions, Slot } from './model/job-options.js';
export type { OwnersOf, UnownedJob } from './model/owners-of.js';
export { formatOwner, owner, parseOwner, type Owner } from './model/owner.js';
export { partitionPrefixes, type PartitionOptions } from './model/partitions.js';
export type { RunOptions } from './model/run-options.js';
export type { CancelOptions } from './owners/cancel-options.js';
export type { HistoryEntry } from './owners/history.js';
export type { OwnerJob, OwnerSummary, OwnerView } from './owners/owner-reader.js';
export type { Receipt } from './owners/receipt.js';
export type { RetriedJobs, RetryFilter } from './queue/bulk-retry.js';
export type { SlotJob, SlotSummary, SlotView } from './slots/slots.js';
export type { Adoption, AdoptOptions } from './sweeps/adoption.js';
export type { MooredWorkerListener, RefusedJob } from './worker/worker-events.js';
export type { Ticket } from './backend/ticket.js';
// Each is the class of its own folder, over all partitions: with one partition it does what that does.
export {
  PartitionedFlowProducer as MooredFlowProducer,
  type PartitionedFlowOptions as MooredFlowOptions,
} from './partitions/partitioned-flow-producer.js';
export {
  PartitionedOwners as Owners,
  type PartitionedOwnersOptions as OwnersOptions,
} from './partitions/partitioned-owners.js';
export { PartitionedQueue as MooredQueue } from './partitions/partitioned-queue.js';
export type { PartitionedQueueOptions as MooredQueueOptions } from './partitions/queue-getters.js';
export {
  PartitionedWorker as MooredWorker,
  type PartitionedWorkerOptions as MooredWorkerOptions,
} from './partitions/partitioned-worker.js';
export {
  PartitionedSlots as Slots,
  type PartitionedSlotsOptions as SlotsOptions,
} from './partitions/partitioned-slots.js';
