export { fields } from '#runtime';
export {
  defineWorkload,
  type Process,
  type ReconcilerTask,
  type SweepTask,
  type WorkloadParts,
} from './define-workload.js';
export { isoDate, isUuid, SHARDS } from './ids.js';
export { LuaScripts } from './lua-scripts.js';
export { openSubscriber } from './open-subscriber.js';
export { OwnerCancelFollower, type OwnerCancel } from './owner-cancel-follower.js';
export { ownerResolver, type OwnerRecords } from './owner-resolver.js';
export { Reconciler, reconcileEvery, ReconcileLoop } from './reconciler.js';
export { WorkloadError } from './workload-error.js';
export { Semaphore } from './semaphore.js';
export { RootedRepository, WorkloadRepository, type Answer } from './workload-repository.js';
export { WorkloadStore, WorkloadStoreModule } from './workload-store.js';
export type { Workload } from './workload.js';
