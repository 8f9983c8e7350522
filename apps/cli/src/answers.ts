import type * as http from '#http';
import type { z } from 'zod';

/** The parts of the API's answers that the CLI shows. Only types: the CLI loads nothing of the API. */

export type Ticket = z.output<typeof http.TicketAnswer>;
export type Job = z.output<typeof http.JobAnswer>;
export type Jobs = z.output<typeof http.JobsAnswer>;
export type JobState = Job['state'];
export type TimelineEntry = Job['timeline'][number];
export type Payload = z.output<typeof http.PayloadAnswer>;
export type Log = z.output<typeof http.LogAnswer>;
export type Owner = z.output<typeof http.OwnerAnswer>;
export type Owners = z.output<typeof http.OwnersAnswer>;
export type OwnerJob = Pick<Owner['jobs'][number], 'id' | 'queue' | 'acceptedAt' | 'hasBegun'>;
export type History = z.output<typeof http.HistoryAnswer>;
export type Removal = Omit<History['entries'][number], 'queue'>;
export type Receipt = z.output<typeof http.ReceiptAnswer>;
export type Cancellations = z.output<typeof http.CancellationsAnswer>;
export type Slot = z.output<typeof http.SlotAnswer>;
export type Queues = z.output<typeof http.QueuesAnswer>;
export type Paused = z.output<typeof http.PausedAnswer>;
export type Schedule = z.output<typeof http.ScheduleAnswer>;
export type Schedules = z.output<typeof http.SchedulesAnswer>;
export type FlowTree = Omit<z.output<typeof http.FlowTreeAnswer>, 'children' | 'parent'> & {
  readonly children: readonly FlowTree[];
  /** Only of the job that was asked for. */
  readonly parent?: string | null;
};
export type Kinds = z.output<typeof http.KindsAnswer>;
export type Workers = z.output<typeof http.WorkersAnswer>;
export type Operation = z.output<typeof http.OperationAnswer>;
export type Operations = z.output<typeof http.OperationsAnswer>;
type SweepRecord = z.output<typeof http.SweepWithLines>;
export type Sweep = Pick<SweepRecord, 'state'> & Partial<SweepRecord>;
export type SweepLines = Pick<SweepRecord, 'lines' | 'cursor'>;
export type Sweeps = z.output<typeof http.SweepsAnswer>;
export type Quarantine = z.output<typeof http.QuarantineAnswer>;
export interface Audit {
  readonly entries: readonly {
    readonly id: string;
    readonly at: string;
    readonly who: string;
    readonly what: string;
    readonly on: string;
    readonly outcome: string;
    readonly status: number;
    readonly requestId: string;
  }[];
  readonly cursor: string | null;
}
