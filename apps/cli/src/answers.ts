import type * as http from '#http';
import type { z } from 'zod';

/** The parts of the API's answers that the CLI shows. Only types: the CLI loads nothing of the API. */

export type Ticket = z.output<typeof http.TicketAnswer>;
export type Job = z.output<typeof http.JobAnswer>;
export type TimelineEntry = Job['timeline'][number];
export type Owner = z.output<typeof http.OwnerAnswer>;
export type OwnerJob = Pick<Owner['jobs'][number], 'id' | 'queue' | 'acceptedAt' | 'hasBegun'>;
export type History = z.output<typeof http.HistoryAnswer>;
export type Removal = Omit<History['entries'][number], 'queue'>;
export type Receipt = z.output<typeof http.ReceiptAnswer>;
export type Slot = z.output<typeof http.SlotAnswer>;
export type Queues = z.output<typeof http.QueuesAnswer>;
export type Operation = z.output<typeof http.OperationAnswer>;
export type Operations = z.output<typeof http.OperationsAnswer>;
type SweepRecord = z.output<typeof http.SweepWithLines>;
export type Sweep = Pick<SweepRecord, 'state'> & Partial<SweepRecord>;
