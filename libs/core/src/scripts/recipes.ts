/** What a composed script is made of. */
export interface Recipe {
  /** Names of BullMQ's scripts that it calls. */
  readonly bull: readonly string[];
  /** Our files, in order; the last one is the script itself. */
  readonly own: readonly string[];
  /** A number, or the script of BullMQ whose keys it takes. */
  readonly keys: number | string;
  /** It adds to what the store holds: it is refused when the store's memory is full. */
  readonly needsRoom?: true;
  /** BullMQ's scripts in it may delete jobs. */
  readonly watchesRemovals?: true;
}

const RECORD = ['store', 'mark', 'record'];
const CLOSED = [...RECORD, 'index', 'empty-cancels'];
const INDEX = [...RECORD, 'index', 'bull-keys'];
const SLOTS = [...INDEX, 'slots'];
const ENDS = [...SLOTS, 'history', 'receipts', 'ends', 'schedulers'];
const CLEANING = [...ENDS, 'job-state', 'clean-up'];
const WAKE = ['promote', 'changePriority'];
const GATE = ['moveToActive', 'moveToFinished', 'moveToDelayed', 'removeJobScheduler', ...WAKE];
const CLEAN = ['removeJob', 'removeJobScheduler', 'moveToFinished', ...WAKE];

/** A run that gives its job back by BullMQ's script of this name. */
function requeue(name: string): Recipe {
  return { bull: [...new Set([...GATE, name])], own: [...ENDS, 'put-back', 'gate', 'requeue'], keys: name };
}

/** BullMQ's script of this name, which removes jobs. */
function remove(name: string): Recipe {
  return { bull: [...WAKE, name], own: [...ENDS, 'removals', 'remove'], keys: name, watchesRemovals: true };
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
      'changeDelay',
      ...WAKE,
    ],
    own: [...SLOTS, 'add'],
    keys: 1,
    needsRoom: true,
  },
  moveToActive: { bull: GATE, own: [...ENDS, 'put-back', 'gate', 'fetch'], keys: 'moveToActive' },
  finish: { bull: GATE, own: [...ENDS, 'put-back', 'gate', 'finish'], keys: 1 },
  moveToDelayed: requeue('moveToDelayed'),
  retryJob: requeue('retryJob'),
  moveJobFromActiveToWait: requeue('moveJobFromActiveToWait'),
  moveToWaitingChildren: requeue('moveToWaitingChildren'),
  adopt: { bull: CLEAN, own: [...ENDS, 'adopt'], keys: 1 },
  adoptWaiting: { bull: CLEAN, own: [...CLEANING, 'put-back', 'adopt-waiting'], keys: 1, needsRoom: true },
  endExpired: { bull: CLEAN, own: [...ENDS, 'end-expired'], keys: 1 },
  readUnindexed: { bull: [], own: [...RECORD, 'read-unindexed'], keys: 1 },
  extendLocks: { bull: ['extendLocks'], own: [...RECORD, 'renew'], keys: 'extendLocks' },
  cancel: { bull: CLEAN, own: [...CLEANING, 'empty-cancels', 'turns', 'cancel'], keys: 1 },
  cancelJob: { bull: CLEAN, own: [...CLEANING, 'cancel-job'], keys: 1 },
  listOwners: { bull: [], own: [...RECORD, 'list-owners'], keys: 1 },
  summarizeOwners: { bull: [], own: [...RECORD, 'summarize-owners'], keys: 1 },
  readOwner: { bull: [], own: [...RECORD, 'job-state', 'read-owner'], keys: 1 },
  readRange: { bull: [], own: ['read-range'], keys: 1 },
  announcedSince: { bull: [], own: ['announced-since'], keys: 1 },
  listSlots: { bull: [], own: ['list-slots'], keys: 1 },
  readSlot: { bull: WAKE, own: [...SLOTS, 'read-slot'], keys: 1 },
  setSlotLimit: { bull: WAKE, own: [...SLOTS, 'set-slot-limit'], keys: 1 },
  noteDurable: { bull: [], own: ['note-durable'], keys: 1 },
  reopen: { bull: [], own: [...CLOSED, 'turns', 'reopen'], keys: 1, needsRoom: true },
  purgeClosed: { bull: [], own: [...RECORD, 'index', 'purge-closed'], keys: 1 },
  clean: { bull: CLEAN, own: [...CLEANING, 'clean'], keys: 1 },
  spreadDone: { bull: [], own: [...CLOSED, 'spread-done'], keys: 1 },
  closeReceipt: { bull: [], own: [...RECORD, 'index', 'close-receipt'], keys: 1 },
  reprocessJob: {
    bull: ['reprocessJob'],
    own: [...INDEX, 'waits-again', 'retry'],
    keys: 'reprocessJob',
    needsRoom: true,
  },
  moveJobsToWait: {
    bull: ['moveJobsToWait', 'reprocessJob', ...WAKE],
    own: [...SLOTS, 'waits-again', 'wait-all'],
    keys: 'moveJobsToWait',
    needsRoom: true,
  },
  retryJobs: {
    bull: ['reprocessJob'],
    own: [...INDEX, 'waits-again', 'retry-jobs'],
    keys: 1,
    needsRoom: true,
  },
  addJobScheduler: {
    bull: ['addJobScheduler', ...WAKE],
    own: [...ENDS, 'removals', 'schedule'],
    keys: 'addJobScheduler',
    needsRoom: true,
    watchesRemovals: true,
  },
  updateJobScheduler: {
    bull: ['updateJobScheduler', 'removeJobScheduler', ...WAKE],
    own: [...ENDS, 'removals', 'next-turn'],
    keys: 'updateJobScheduler',
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
