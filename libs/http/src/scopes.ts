import { createParamDecorator, SetMetadata, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';

export const SCOPES = ['enqueue', 'read', 'cancel', 'admin'] as const;
export type Scope = (typeof SCOPES)[number];

/** Where the guard finds which scope a route needs; null for everybody. */
export const NEEDS = Symbol('mooring:needs');

/** Says which scope a route needs. */
export function Needs(scope: Scope): MethodDecorator & ClassDecorator {
  return SetMetadata(NEEDS, scope);
}

/** Says that a route is for everybody. */
export function ForEverybody(): MethodDecorator & ClassDecorator {
  return SetMetadata(NEEDS, null);
}

export type Called = FastifyRequest & { caller?: string };

/** The name of the key a request came with; '' where nobody needs one. */
export const Caller = createParamDecorator((_data: unknown, context: ExecutionContext): string => {
  return context.switchToHttp().getRequest<Called>().caller ?? '';
});
