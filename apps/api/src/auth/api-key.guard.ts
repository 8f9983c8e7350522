import { ApiProblem, NEEDS, type Scope } from '#http';
import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyRequest } from 'fastify';
import { findKey, type ApiKey } from './api-keys.js';
import type { RatedRequest } from './rate.guard.js';

/** Keys of this API. Undefined means that every local caller may do everything. */
export abstract class ApiKeys {
  abstract readonly known: readonly ApiKey[] | undefined;
}

/** Admits a request whose key has the scope of the route. A route without a declared scope admits none. */
@Injectable()
export class ApiKeyGuard implements CanActivate {
  constructor(
    private readonly keys: ApiKeys,
    private readonly reflector: Reflector,
  ) {}

  canActivate(context: ExecutionContext): boolean {
    if (!this.keys.known) return true;
    const scope = this.reflector.getAllAndOverride<Scope | null | undefined>(NEEDS, [
      context.getHandler(),
      context.getClass(),
    ]);
    if (scope === null) return true;

    const request = context.switchToHttp().getRequest<FastifyRequest & RatedRequest>();
    const key = findKeyIn(request.headers.authorization, this.keys.known);
    if (!key) throw keyRequired();
    // Set before the scope is checked, so that the log can name a refused key.
    request.caller = key.name;
    request.scopes = key.scopes;
    request.limits = key.limits;
    request.rate = key.rate;
    if (scope === undefined)
      throw new ApiProblem(
        403,
        'FORBIDDEN',
        'This route declares no scope, so no key can open it. Add @Needs(…) to it.',
      );
    if (!key.scopes.has(scope))
      throw new ApiProblem(403, 'FORBIDDEN', `The key "${key.name}" lacks the scope "${scope}".`);
    return true;
  }
}

/** The key that an Authorization header presents; undefined if it is unknown or missing. */
export function findKeyIn(header: string | undefined, known: readonly ApiKey[]): ApiKey | undefined {
  const [, presented] = /^Bearer +(\S+)$/i.exec(header ?? '') ?? [];
  return presented === undefined ? undefined : findKey(known, presented);
}

export function keyRequired(): ApiProblem {
  return new ApiProblem(401, 'UNAUTHORIZED', 'Send a valid key: "Authorization: Bearer <key>".');
}
