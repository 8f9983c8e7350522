/** What an operator did by HTTP. A cancel is not among them: its receipt and its own line say who asked for it. */
export type AuditEvent =
  | { readonly event: 'queue.paused' | 'queue.resumed'; readonly queue: string }
  | { readonly event: 'owner.reopened'; readonly owner: string }
  | {
      readonly event: 'schedule.created' | 'schedule.replaced' | 'schedule.deleted';
      readonly schedule: string;
    }
  | {
      readonly event: 'sweep.asked';
      readonly sweep: string;
      readonly sweepId: string;
      readonly dryRun: boolean;
      readonly force: boolean;
      readonly acknowledge: boolean;
    }
  | {
      readonly event: 'slot.limit-set';
      readonly key: string;
      readonly limit: number;
      /** Null for a key that had none. */
      readonly was: number | null;
    }
  | { readonly event: 'lease.cleanup-asked'; readonly leaseId: string; readonly release: boolean };

/** Records who did what, once it is done. */
export abstract class Audit {
  /** `caller` is the name of the key; '' where none is needed. */
  abstract record(caller: string, event: AuditEvent): void;
}
