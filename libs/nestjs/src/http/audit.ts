/** What an operator did. Cancels are not among it: their receipts name the caller. */
export interface AuditEvent {
  readonly event: string;
  readonly [detail: string]: unknown;
}

/** Records what operators have done. An application provides it, or nothing is recorded. */
export abstract class Audit {
  /** @param caller '' without a name */
  abstract record(caller: string, event: AuditEvent): void;
}
