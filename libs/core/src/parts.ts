// What @mooring/partitions and @mooring/nestjs need of the inside of the core. It is no part of the public interface: any release may change it.
export { createMooredBackend } from './backend/create-backend.js';
export { newJobId } from './backend/job-id.js';
export { readJobRef } from './scripts/job-ref.js';
export { partitionsKey, setUpPartitions, type PartOptions } from './backend/partition-check.js';
export type { MooredBackend } from './backend/moored-backend.js';
export { MooredJob } from './backend/moored-job.js';
export { requireOwners } from './backend/owned-options.js';
export { durationMs } from './model/duration.js';
export { checkTurns } from './model/fair-turns.js';
export type { RunStop, StopReason } from './model/run-stop.js';
export { checkOptions } from './owners/cancel-options.js';
export {
  unkeptReceipt,
  type Answer,
  type Cancel,
  type Reopening,
  type SeenOwner,
} from './owners/canceller.js';
export { ANSWERS_WITHIN_MS, untilDrained } from './owners/clean-up.js';
export { inGroups, type ListOptions, type OwnerList } from './owners/owner-reader.js';
export { ownersAt, type OwnersAccess, type OwnersAt } from './owners/owners.js';
export { emptyReceipt } from './owners/receipt.js';
export { escapeText, unescapeText } from './scripts/escape.js';
export { ownersOfMark } from './scripts/mark.js';
export { RunHandedBack } from './worker/run-watch.js';
