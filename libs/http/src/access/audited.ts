import { SetMetadata } from '@nestjs/common';

/** What a call of a route is in the audit log. */
export interface Audited {
  /** As in `owner.cancel`. */
  readonly what: string;
  /** The parts of the path that say on what. Default `id`, and with `type` before it the owner. */
  readonly on?: readonly string[];
  /** Reads from the answer on what, if the path does not say it. Undefined: the call has changed nothing, and is left out. */
  readonly made?: (answer: never) => string | undefined;
  /** Fields of the body that are noted. */
  readonly details?: readonly string[];
}

/** Metadata key of what the audit log has of a route; null for a route whose calls it leaves out. */
export const AUDITED = Symbol('mooring:audited');

/** Enters the calls of a route in the audit log. Every route that changes something has this or `NotAudited`. */
export function Audits(what: string, more: Omit<Audited, 'what'> = {}): MethodDecorator {
  return SetMetadata(AUDITED, { what, ...more });
}

/** Leaves the calls of a route out of the audit log: they add work, of which there is much, and jobs name their callers themselves. */
export function NotAudited(): MethodDecorator & ClassDecorator {
  return SetMetadata(AUDITED, null);
}
