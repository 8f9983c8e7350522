/** An operator's action. Cancellations are not audited here: their receipt and log line name the caller. */
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
      /** Null if the key had no limit. */
      readonly was: number | null;
    }
  | { readonly event: 'lease.cleanup-asked'; readonly leaseId: string; readonly release: boolean };

/** Records completed actions of operators. */
export abstract class Audit {
  /** `caller` is the name of the key; '' if the API has no keys. */
  abstract record(caller: string, event: AuditEvent): void;
}
