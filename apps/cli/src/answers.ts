/** The parts of the API's answers that the CLI shows. `--json` prints whole answers. */

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
  readonly artifacts?: readonly Artifact[];
  readonly timeline: readonly TimelineEntry[];
}

/** A file that the job's handler stored. */
export interface Artifact {
  readonly name: string;
  readonly size: number;
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
  readonly counts: { readonly jobs: number; readonly running: number; readonly ending: number };
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
  readonly entries: readonly Removal[];
  readonly cursor: string | null;
}

export interface Removal {
  readonly id: string;
  readonly kind?: string;
  /** State of the job before its removal. */
  readonly state: string;
  readonly at: string;
  readonly why: string;
  readonly reason?: string;
  readonly by?: string;
  readonly cancelId?: string;
}

export interface Receipt {
  readonly cancelId: string;
  readonly owner: string;
  /** Set when a single job was cancelled instead of the whole owner. */
  readonly job?: string;
  readonly epoch: string | null;
  readonly reason: string;
  readonly by: string;
  readonly at: string;
  readonly closed: boolean;
  readonly removed: number;
  readonly aborted: number;
  readonly acknowledged: number;
  readonly ignored: number;
  readonly running: number;
  readonly byQueue: Readonly<Record<string, QueueReceipt>>;
  readonly schedules: number;
  readonly done: boolean;
  readonly durable: boolean;
}

export interface QueueReceipt {
  readonly removed: Readonly<Record<string, number>>;
  readonly aborted: number;
  readonly running: number;
}

export interface Slot {
  readonly key: string;
  readonly limit: number | null;
  readonly holding: number;
  readonly waiting: number;
  readonly holders: readonly { readonly jobId: string; readonly since: string }[];
  readonly waiters: readonly string[];
}

export interface Queues {
  readonly queues: readonly QueueLine[];
}

export interface QueueLine {
  readonly queue: string;
  readonly counts: Readonly<Record<string, number>>;
  /** How long the oldest waiting job has been due; null when none waits. */
  readonly oldestWaitingMs: number | null;
  readonly paused: boolean;
}

export interface Sweep {
  readonly sweepId?: string;
  readonly state: string;
  readonly seen?: number;
  readonly removed?: number;
  readonly kept?: number;
  readonly unknown?: number;
  readonly failed?: number;
  readonly tookMs?: number;
  readonly worstStallMs?: number;
  readonly why?: string;
  readonly dryRun?: boolean;
  readonly healed?: number;
  readonly waiting?: number;
  readonly jobs?: number;
  /** Approximate total of items to see, if known. */
  readonly of?: number;
  readonly lines?: readonly { readonly what: string; readonly why: string }[];
  readonly cursor?: string | null;
}
