import type { ConnectionOptions, QueueBaseOptions } from 'bullmq';
import { createMooredBackend, type DurableOptions } from '../backend/moored-backend.js';
import type { PartitionedOptions } from '../backend/partition-check.js';
import { durationMs } from '../model/duration.js';
import { InvalidJobError } from '../model/errors.js';
import { Canceller, type CancelLimits } from './canceller.js';
import { CleanUp } from './clean-up.js';
import { OwnerReader } from './owner-reader.js';
import { OwnerStore } from './owner-store.js';

const MAX_CLOSED = 100_000;
/** Receipts say what runs of now were told: they outlive these. */
const LEAST_RECEIPT_KEEP_MS = 60_000;
const MOST_PURGED_IN_ONE_STEP = 200;

export interface OwnersOptions extends DurableOptions, PartitionedOptions {
  readonly connection: ConnectionOptions;
  /** How long receipts of cancels are kept, and the history of what was removed. Default 7 days; the same for all. */
  readonly receiptKeep?: number | string;
  /** How many owners may be closed at a time without ever having had a job; more are refused. Default 100,000; the same for all. */
  readonly maxClosed?: number;
}

/** What works on the owners of one prefix. */
export interface OwnersAt {
  readonly store: OwnerStore;
  readonly cleanUp: CleanUp;
  readonly canceller: Canceller;
  readonly reader: OwnerReader;
}

export function ownersAt(options: OwnersOptions): OwnersAt {
  const { prefix = 'bull', receiptKeep = '7d', maxClosed = MAX_CLOSED, ...rest } = options;
  const limits = { receiptKeepMs: durationMs('receiptKeep', receiptKeep), maxClosed };
  checkLimits(limits);
  const backend = createMooredBackend('owners', { ...rest, prefix } as QueueBaseOptions);
  // Every call answers with its own error.
  backend.on('error', () => undefined);
  const store = new OwnerStore(backend);
  const cleanUp = new CleanUp(store);
  return { store, cleanUp, canceller: new Canceller(store, cleanUp, limits), reader: new OwnerReader(store) };
}

/** Forgets owners that were closed or reopened so long ago without ever having had a job. Answers how many. */
export async function purgeClosedIn({ store }: OwnersAt, olderThanMs: number): Promise<number> {
  const args = [olderThanMs, MOST_PURGED_IN_ONE_STEP];
  let purged = 0;
  for (let last = MOST_PURGED_IN_ONE_STEP; last === MOST_PURGED_IN_ONE_STEP; purged += last)
    last = await store.run<number>('purgeClosed', store.recordOf(''), args);
  return purged;
}

function checkLimits({ receiptKeepMs, maxClosed }: CancelLimits): void {
  if (receiptKeepMs < LEAST_RECEIPT_KEEP_MS) throw new InvalidJobError('receiptKeep is at least a minute.');
  if (!Number.isInteger(maxClosed) || maxClosed < 1)
    throw new InvalidJobError('maxClosed is a whole number of at least 1.');
}
