// All that @mooring/core has for its users, with the classes of one prefix in the place of those of one partition.
export * from '#core';
export {
  PartitionedFlowProducer as MooredFlowProducer,
  type PartitionedFlowOptions as MooredFlowOptions,
} from './flow/partitioned-flow-producer.js';
export { partitionPrefixes, type PartitionOptions } from './model/partitions.js';
export {
  PartitionedOwners as Owners,
  type PartitionedOwnersOptions as OwnersOptions,
} from './owners/partitioned-owners.js';
export { PartitionedQueue as MooredQueue } from './queue/partitioned-queue.js';
export type { PartitionedQueueOptions as MooredQueueOptions } from './queue/queue-reader.js';
export {
  PartitionedSlots as Slots,
  type PartitionedSlotsOptions as SlotsOptions,
} from './slots/partitioned-slots.js';
export {
  PartitionedWorker as MooredWorker,
  type PartitionedWorkerOptions as MooredWorkerOptions,
} from './worker/partitioned-worker.js';
