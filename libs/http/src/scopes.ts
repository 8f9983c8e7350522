import { createParamDecorator, SetMetadata, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';

export const SCOPES = ['enqueue', 'read', 'cancel', 'admin'] as const;
export type Scope = (typeof SCOPES)[number];

/** Metadata key of the scope that a route needs; null for a public route. */
export const NEEDS = Symbol('mooring:needs');

/** Declares the scope that a route needs. */
export function Needs(scope: Scope): MethodDecorator & ClassDecorator {
  return SetMetadata(NEEDS, scope);
}

/** Makes a route public. */
export function ForEverybody(): MethodDecorator & ClassDecorator {
  return SetMetadata(NEEDS, null);
}

export type Called = FastifyRequest & { caller?: string };

/** Name of the caller's key; '' if the API has no keys. */
export const Caller = createParamDecorator((_data: unknown, context: ExecutionContext): string => {
  return context.switchToHttp().getRequest<Called>().caller ?? '';
});
