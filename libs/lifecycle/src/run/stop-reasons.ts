/** Why a run is told to stop. What becomes of its job depends on it. */
export abstract class StopReason extends Error {
  /** A handler that has not ended after `graceMs` is abandoned. */
  constructor(
    message: string,
    readonly graceMs: number,
  ) {
    super(message);
    this.name = new.target.name;
  }
}

/** Its process ends. Its job is handed back; no attempt is used up. */
export class ShuttingDown extends StopReason {
  constructor(graceMs: number) {
    super('This worker is shutting down.', graceMs);
  }
}

/** Its owner was cancelled. Its job ends cancelled, and is never tried again. */
export class OwnerCancelled extends StopReason {
  constructor(graceMs: number) {
    super('The owner of this job was cancelled.', graceMs);
  }
}

/** It took longer than its kind may. The attempt has failed. */
export class RunTimedOut extends StopReason {
  constructor(timeoutMs: number, graceMs: number) {
    super(`The run took longer than ${timeoutMs} ms.`, graceMs);
  }
}

/** Its lease or its lock is gone: another run may have its job already. What it makes does not count any more. */
export class RunLost extends StopReason {
  constructor(why: string) {
    super(`This run was overtaken: ${why}.`, 0);
  }
}

/** How long a run may take to obey a reason. */
export function graceMsOf(reason: unknown, kind: { readonly graceMs: number }): number {
  return reason instanceof StopReason ? reason.graceMs : kind.graceMs;
}
