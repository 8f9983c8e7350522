import type { Owner } from '#core';
import type { EnqueueOptions } from '../enqueue/enqueue-options.js';
import type { Kind } from '../kinds/kind.js';

/** Who asked for a job. */
export interface JobOrigin {
  readonly requestId?: string | undefined;
  readonly caller?: string | undefined;
}

export type CallersOptions = EnqueueOptions & {
  readonly idempotencyKey?: string | undefined;
  readonly origin?: JobOrigin;
};

/** The kinds that callers from outside may name. */
export abstract class OfferedKinds {
  /** @throws UnknownKindError */
  abstract offered(name: string): Kind;
}

export const MAX_FLOW_DEPTH = 5;
export const MAX_FLOW_JOBS = 100;
export const CHILD_POLICIES = ['fail', 'continue', 'ignore'] as const;

export interface Flow {
  readonly kind: Kind;
  readonly payload?: unknown;
  readonly owners?: readonly (Owner | string)[] | undefined;
  readonly onChildFailure?: (typeof CHILD_POLICIES)[number] | undefined;
  readonly children?: readonly Flow[] | undefined;
}

export abstract class Flows {
  abstract add(flow: Flow, origin?: JobOrigin): Promise<{ readonly id: string }>;
}

export abstract class Schedules {
  abstract put(
    id: string,
    kind: Kind,
    options: object,
  ): Promise<{ readonly outcome: 'created' | 'replaced'; readonly schedule: object }>;
  abstract get(id: string): Promise<object | undefined>;
  abstract list(
    cursor?: string,
  ): Promise<{ readonly schedules: readonly object[]; readonly cursor: string | null }>;
  abstract remove(id: string): Promise<boolean>;
}

interface SweepRecord {
  readonly sweepId: string;
}

export abstract class Sweeper {
  abstract ask(
    kind: string,
    order: { readonly dryRun?: boolean; readonly force?: boolean },
  ): Promise<SweepRecord>;
}

export abstract class SweepBook {
  abstract newest(): Promise<readonly SweepRecord[]>;
  abstract trips(): Promise<Readonly<Record<string, object>>>;
  abstract acknowledge(kind: string): Promise<void>;
  abstract find(sweepId: string): Promise<SweepRecord | undefined>;
  abstract lines(
    sweepId: string,
    from: number,
  ): Promise<{ readonly lines: readonly object[]; readonly next: number | null }>;
}

export abstract class Quarantine {
  abstract page(from: number): Promise<{ readonly jobs: readonly object[]; readonly next: number | null }>;
}
