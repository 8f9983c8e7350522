/** What the api answers, as far as it is shown. `--json` prints all of it. */

export interface Ticket {
  readonly outcome: 'created' | 'skipped' | 'coalesced' | 'replaced';
  readonly id: string;
  readonly kind: string;
  readonly queue: string;
  readonly owners: readonly string[];
  readonly replaced?: string;
}

export interface Job {
  readonly id: string;
  readonly kind: string;
  readonly queue: string;
  readonly owners: readonly string[];
  readonly state: string;
  readonly progress: unknown;
  readonly result: unknown;
  readonly error: string | null;
  readonly attempts: number;
  readonly artifacts?: readonly string[];
  readonly timeline: readonly TimelineEntry[];
  /** Of a removed one: why it was. */
  readonly why?: string;
}

export interface TimelineEntry {
  readonly at: string;
  readonly event: string;
  readonly attempt?: number;
  readonly why?: string;
}

export interface Owner {
  readonly owner: string;
  readonly state: 'open' | 'closed';
  readonly epoch: string | null;
  readonly counts: { readonly jobs: number; readonly running: number };
  readonly jobs: readonly OwnerJob[];
  readonly cursor: string | null;
}

export interface OwnerJob {
  readonly id: string;
  readonly queue: string;
  readonly acceptedAt: string;
  readonly hasBegun: boolean;
}

export interface History {
  readonly owner: string;
  readonly entries: readonly Readonly<Record<string, unknown>>[];
  readonly cursor?: string | null;
}

export interface Receipt {
  readonly cancelId: string;
  readonly owner: string;
  readonly epoch: string;
  readonly reason?: string;
  readonly by?: string;
  readonly at?: string;
  readonly closed?: boolean;
  readonly removed: number;
  readonly aborted: number;
  readonly acknowledged?: number;
  readonly ignored?: number;
  readonly running: number;
  readonly byQueue: Readonly<
    Record<string, { readonly removed?: Readonly<Record<string, number>>; readonly aborted?: number }>
  >;
  readonly done: boolean;
  readonly durable?: boolean;
}

export interface Queues {
  readonly queues: readonly QueueLine[];
}

export interface QueueLine {
  readonly queue: string;
  readonly counts: Readonly<Record<string, number>>;
  /** How long the oldest waiting job has waited. */
  readonly oldestWaitingMs?: number | null;
  readonly paused?: boolean;
}

export interface Sweep {
  readonly state: string;
  readonly seen?: number;
  readonly removed?: number;
  readonly kept?: number;
  readonly unknown?: number;
  readonly failed?: number;
  readonly tookMs?: number;
  readonly worstStallMs?: number;
  readonly why?: string;
}
