import type { ConnectionOptions, QueueBaseOptions } from 'bullmq';
import { createMooredBackend, type DurableOptions } from '../backend/moored-backend.js';
import type { PartOptions } from '../backend/partition-check.js';
import { durationMs } from '../model/duration.js';
import { InvalidJobError } from '../model/errors.js';
import { Canceller, type CancelLimits } from './canceller.js';
import { CleanUp } from './clean-up.js';
import { OwnerReader } from './owner-reader.js';
import { OwnerStore } from './owner-store.js';

const MAX_CLOSED = 100_000;
/** Receipts say what runs of now were told: they outlive these. */
const LEAST_RECEIPT_KEEP_MS = 60_000;

export interface OwnersOptions extends DurableOptions, PartOptions {
  readonly connection: ConnectionOptions;
  /** How long receipts of cancels are kept, and the history of what was removed. Default 7 days; the same for all. */
  readonly receiptKeep?: number | string;
  /** How many owners may be closed at a time without ever having had a job; more are refused. Default 100,000; the same for all. */
  readonly maxClosed?: number;
}

/** What `Owners` asks: of one prefix, or of several partitions together. */
export interface OwnersAccess {
  readonly store: Pick<OwnerStore, 'purgeClosed' | 'close'>;
  readonly cleanUp: Pick<CleanUp, 'open' | 'pass'>;
  readonly canceller: Pick<Canceller, 'cancel' | 'cancelJob' | 'reopen'>;
  readonly reader: Pick<OwnerReader, 'get' | 'list' | 'history' | 'receipt'>;
}

export type OwnersAt = ReturnType<typeof ownersAt>;

/** Of one prefix. */
export function ownersAt(options: OwnersOptions) {
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

function checkLimits({ receiptKeepMs, maxClosed }: CancelLimits): void {
  if (receiptKeepMs < LEAST_RECEIPT_KEEP_MS) throw new InvalidJobError('receiptKeep is at least a minute.');
  if (!Number.isInteger(maxClosed) || maxClosed < 1)
    throw new InvalidJobError('maxClosed is a whole number of at least 1.');
}
