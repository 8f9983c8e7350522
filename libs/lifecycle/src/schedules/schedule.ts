import type { Duration } from '#durations';
import { InvalidJobError } from '../errors.js';
import { readRequest, type EnqueueOptions } from '../enqueue/request.js';
import type { DedupOptions, Kind, SlotOptions } from '../kinds/kind.js';
import { HALF_A_CHARACTER, parseOwner, type Owner } from '../kinds/owner.js';
import { readTiming, type Timing, type TimingOptions } from './timing.js';

const MAX_ID_BYTES = 200;

export interface ScheduleOptions extends TimingOptions {
  /** One to four owners; when one of them is cancelled the schedule ends. */
  readonly owners: readonly Owner[];
  readonly payload?: unknown;
  readonly expiresIn?: Duration | undefined;
  readonly priority?: number | undefined;
  readonly slot?: SlotOptions | undefined;
  /** Default: `skip`, by the schedule's id. At most one of its jobs runs and one waits, however long they take. */
  readonly dedup?: DedupOptions | undefined;
}

/** What is kept of a schedule that its jobs are made of. */
export interface Definition {
  readonly kind: string;
  readonly payload?: unknown;
  readonly timing: Timing;
  readonly expiresIn?: Duration | undefined;
  readonly priority?: number | undefined;
  readonly slot?: SlotOptions | undefined;
  readonly dedup: DedupOptions;
}

/** A schedule as a caller sees it. */
export interface ScheduleView {
  readonly id: string;
  readonly kind: string;
  readonly owners: readonly string[];
  readonly every: Duration | null;
  readonly cron: string | null;
  readonly timezone: string | null;
  readonly nextAt: string;
  /** When it last had its turn, and the job that did it: its own, or one that was pending. */
  readonly lastAt: string | null;
  readonly lastJobId: string | null;
  /** `failing`: its last turn was refused for good, as `error` says. */
  readonly state: 'active' | 'failing';
  readonly error: string | null;
}

/** Reads a schedule; throws when it, or the jobs that it would make, make no sense. */
export function readSchedule(
  id: string,
  kind: Kind,
  options: ScheduleOptions,
  maxBytes: number,
): { definition: Definition; owners: readonly string[] } {
  checkScheduleId(id);
  const { payload, expiresIn, priority, slot, dedup = { strategy: 'skip', key: id } } = options;
  const definition = {
    kind: kind.name,
    payload,
    timing: readTiming(options),
    expiresIn,
    priority,
    slot,
    dedup,
  };
  const { owners } = readRequest(kind, payload, jobOptions(definition, options.owners), maxBytes);
  return { definition, owners };
}

export function checkScheduleId(id: unknown): void {
  if (
    typeof id !== 'string' ||
    id === '' ||
    Buffer.byteLength(id) > MAX_ID_BYTES ||
    HALF_A_CHARACTER.test(id)
  )
    throw new InvalidJobError(`A schedule's id is a text of 1 to ${MAX_ID_BYTES} bytes.`);
}

export function jobOptions(
  { expiresIn, priority, slot, dedup }: Definition,
  owners: readonly (Owner | string)[],
): EnqueueOptions {
  const read = owners?.map((one) => (typeof one === 'string' ? parseOwner(one) : one));
  return { owners: read, expiresIn, priority, slot, dedup };
}
