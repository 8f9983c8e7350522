import type { AccessLimits } from '#nestjs';
import { createParamDecorator, SetMetadata, type ExecutionContext } from '@nestjs/common';

export const SCOPES = ['enqueue', 'read', 'cancel', 'admin'] as const;
export type Scope = (typeof SCOPES)[number];

/** Metadata key of the scope that a route needs, for the guard; null for a public route. */
export const NEEDS = Symbol('mooring:needs');

/** Declares the scope that a route needs. */
export function Needs(scope: Scope): MethodDecorator & ClassDecorator {
  return SetMetadata(NEEDS, scope);
}

/** Makes a route public. */
export function ForEverybody(): MethodDecorator & ClassDecorator {
  return SetMetadata(NEEDS, null);
}

/** A request whose guard may have set the name of its caller. */
export interface CalledRequest {
  readonly id?: string;
  caller?: string;
  /** What its caller may do, if the guard says so: for routes that need a further scope for some bodies. */
  scopes?: ReadonlySet<Scope>;
  /** What its caller is limited to, if the guard says so. */
  limits?: AccessLimits | undefined;
  /** Whether the audit log has an entry of this call, or will have. */
  isAudited?: boolean;
}

/** The name of the caller; '' if the guard sets none. */
export const Caller = createParamDecorator((_data: unknown, context: ExecutionContext): string => {
  return context.switchToHttp().getRequest<CalledRequest>().caller ?? '';
});
