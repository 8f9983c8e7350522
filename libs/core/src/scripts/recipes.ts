import type { Recipe } from '#bullmq-scripts';

const RECORD = ['store', 'mark', 'record'];
const CLOSED = [...RECORD, 'index', 'empty-cancels'];
const INDEX = [...RECORD, 'index', 'bull-keys'];
const SLOTS = [...INDEX, 'lines', 'rates', 'slot-limits', 'slots'];
/** BullMQ's scripts that wake a job in line. */
const WAKING = ['promote', 'changeDelay'];
const ENDS = [...SLOTS, 'history', 'receipts', 'ends', 'schedulers'];
const RETRY = [...INDEX, 'fair', 'waits-again'];
const CLEANING = [...ENDS, 'job-state', 'clean-up'];
const GATE = ['moveToActive', 'moveToFinished', 'moveToDelayed', 'removeJobScheduler', ...WAKING];
const CLEAN = ['removeJob', 'removeJobScheduler', 'moveToFinished', ...WAKING];

/** A run that gives its job back by BullMQ's script of this name. */
function requeue(name: string): Recipe {
  return {
    bull: [...new Set([...GATE, name])],
    own: [...ENDS, 'put-back', 'fair', 'take-slots', 'waking', 'gate', 'requeue'],
    standsFor: name,
  };
}

/** BullMQ's script of this name, which removes jobs. */
function remove(name: string): Recipe {
  return {
    bull: [...WAKING, name],
    own: [...ENDS, 'removals', 'remove'],
    standsFor: name,
    watchesRemovals: true,
  };
}

export const RECIPES = {
  add: {
    bull: [
      'addStandardJob',
      'addPrioritizedJob',
      'addDelayedJob',
      'addParentJob',
      'releaseParentIfNoPendingDependencies',
      'removeJob',
      ...WAKING,
    ],
    own: [
      ...SLOTS,
      'history',
      'late',
      'fair',
      'add-requests',
      'add-pending',
      'add-turns',
      'idempotency',
      'add',
    ],
    needsRoom: true,
  },
  moveToActive: {
    bull: GATE,
    own: [...ENDS, 'put-back', 'fair', 'take-slots', 'waking', 'gate', 'fetch'],
    standsFor: 'moveToActive',
  },
  finish: { bull: GATE, own: [...ENDS, 'put-back', 'fair', 'take-slots', 'waking', 'gate', 'finish'] },
  moveToDelayed: requeue('moveToDelayed'),
  retryJob: requeue('retryJob'),
  moveJobFromActiveToWait: requeue('moveJobFromActiveToWait'),
  moveToWaitingChildren: requeue('moveToWaitingChildren'),
  adopt: { bull: CLEAN, own: [...ENDS, 'adopt'] },
  adoptWaiting: { bull: CLEAN, own: [...CLEANING, 'put-back', 'adopt-waiting'], needsRoom: true },
  endUnkept: { bull: CLEAN, own: [...ENDS, 'end-unkept'] },
  expire: { bull: CLEAN, own: [...CLEANING, 'expire'] },
  removeEnded: {
    bull: ['removeJob', ...WAKING],
    own: [...ENDS, 'removals', 'remove-ended'],
    watchesRemovals: true,
  },
  scanOwners: { bull: [], own: [...RECORD, 'scan-owners'] },
  sweepWrite: { bull: [], own: ['store', 'sweep-write'] },
  readUnindexed: { bull: [], own: [...RECORD, 'read-unindexed'] },
  extendLocks: { bull: ['extendLocks'], own: [...RECORD, 'renew'], standsFor: 'extendLocks' },
  cancel: { bull: CLEAN, own: [...CLEANING, 'late', 'empty-cancels', 'turns', 'cancel'] },
  cancelJob: { bull: CLEAN, own: [...CLEANING, 'cancel-job'] },
  listOwners: { bull: [], own: [...RECORD, 'list-owners'] },
  summarizeOwners: { bull: [], own: [...RECORD, 'summarize-owners'] },
  readOwner: { bull: [], own: [...RECORD, 'job-state', 'read-owner'] },
  lookAtOwners: { bull: [], own: [...RECORD, 'job-state', 'look-at-owners'] },
  listJobs: { bull: [], own: [...RECORD, 'job-facts', 'list-jobs'] },
  listPriorities: { bull: [], own: ['store', 'list-priorities'] },
  listOwned: { bull: [], own: [...RECORD, 'job-state', 'job-facts', 'list-owned'] },
  announcedSince: { bull: [], own: ['announced-since'] },
  readSlot: { bull: WAKING, own: [...SLOTS, 'read-slot'] },
  setSlotLimit: { bull: WAKING, own: [...SLOTS, 'set-slot-limit'] },
  noteOfRun: { bull: [], own: ['note-of-run'] },
  noteDurable: { bull: [], own: ['note-durable'] },
  reopen: { bull: [], own: [...CLOSED, 'late', 'turns', 'reopen'], needsRoom: true },
  takeLate: { bull: [], own: ['store', 'take-late'] },
  purgeClosed: { bull: [], own: [...RECORD, 'index', 'purge-closed'] },
  clean: { bull: CLEAN, own: [...CLEANING, 'clean'] },
  spreadDone: { bull: [], own: [...CLOSED, 'spread-done'] },
  closeReceipt: { bull: [], own: [...RECORD, 'index', 'close-receipt'] },
  reprocessJob: {
    bull: ['reprocessJob'],
    own: [...RETRY, 'retry'],
    standsFor: 'reprocessJob',
    needsRoom: true,
  },
  retryJobs: { bull: ['reprocessJob'], own: [...RETRY, 'retry-jobs'], needsRoom: true },
  retryOnce: { bull: ['reprocessJob'], own: [...RETRY, 'retry-once'], needsRoom: true },
  moveJobsToWait: {
    bull: ['moveJobsToWait', 'reprocessJob', ...WAKING],
    own: [...SLOTS, 'fair', 'waits-again', 'wait-all'],
    standsFor: 'moveJobsToWait',
    needsRoom: true,
  },
  addJobScheduler: {
    bull: ['addJobScheduler', ...WAKING],
    own: [...ENDS, 'removals', 'schedule'],
    standsFor: 'addJobScheduler',
    needsRoom: true,
    watchesRemovals: true,
  },
  updateJobScheduler: {
    bull: ['updateJobScheduler', 'removeJobScheduler', ...WAKING],
    own: [...ENDS, 'removals', 'next-turn'],
    standsFor: 'updateJobScheduler',
    watchesRemovals: true,
  },
  removeJob: remove('removeJob'),
  drain: remove('drain'),
  cleanJobsInSet: remove('cleanJobsInSet'),
  obliterate: remove('obliterate'),
  removeUnprocessedChildren: remove('removeUnprocessedChildren'),
  removeJobScheduler: remove('removeJobScheduler'),
} satisfies Record<string, Recipe>;

export type ComposedName = keyof typeof RECIPES;
