import type { Job, WorkerListener } from 'bullmq';

/** A job that did not pass the gate: an owner was cancelled, or its time to start was over. It has ended and is not kept. */
export interface RefusedJob {
  readonly id: string;
  readonly reason: 'cancelled' | 'expired' | 'skipped';
}

/** The events of BullMQ's worker, and those of jobs that neither completed nor failed. */
export interface MooredWorkerListener<Data, Result, Name extends string> extends WorkerListener<
  Data,
  Result,
  Name
> {
  /** The job was not started. */
  refused: (job: RefusedJob) => void;
  /** An owner was cancelled during the run. Its job has ended and is not kept. */
  cancelled: (job: Job<Data, Result, Name>) => void;
  /** The run is no longer this worker's: its lock ran out, or its job was removed. What it returned does not count. */
  lost: (job: Job<Data, Result, Name>) => void;
}

export type EventOf<D, R, N extends string> = keyof MooredWorkerListener<D, R, N>;

export type Listener<D, R, N extends string, Event extends EventOf<D, R, N>> = MooredWorkerListener<
  D,
  R,
  N
>[Event];

/** @param line `<id> <reason>`, with the reason `late` for a turn of a scheduler that its worker has to end */
export function readRefusal(line: string): { id: string; reason: RefusedJob['reason'] | 'late' } {
  const space = line.lastIndexOf(' ');
  return { id: line.slice(0, space), reason: line.slice(space + 1) as RefusedJob['reason'] | 'late' };
}
