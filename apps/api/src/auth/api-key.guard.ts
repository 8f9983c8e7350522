import { ApiProblem, NEEDS, type Called, type Scope } from '#http';
import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { findKey, type ApiKey } from './api-keys.js';

export { Caller, ForEverybody, Needs } from '#http';

/** The keys this api knows; none means that everybody on this machine may do everything. */
export abstract class ApiKeys {
  abstract readonly known: readonly ApiKey[] | undefined;
}

/** Lets a request in when its key has the scope that the route names. A route that names none stays shut. */
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

    const request = context.switchToHttp().getRequest<Called>();
    const key = findKeyIn(request.headers.authorization, this.keys.known);
    if (!key) throw keyRequired();
    // Before its scope is looked at: the log names the key that was refused.
    request.caller = key.name;
    if (scope === undefined)
      throw new ApiProblem(
        403,
        'FORBIDDEN',
        'No key opens this route: it names no scope. Give it @Needs(…).',
      );
    if (!key.scopes.has(scope))
      throw new ApiProblem(403, 'FORBIDDEN', `The key "${key.name}" lacks the scope "${scope}".`);
    return true;
  }
}

/** The key of an Authorization header; undefined when it holds none that is known. */
export function findKeyIn(header: string | undefined, known: readonly ApiKey[]): ApiKey | undefined {
  const [, presented] = /^Bearer +(\S+)$/i.exec(header ?? '') ?? [];
  return presented === undefined ? undefined : findKey(known, presented);
}

export function keyRequired(): ApiProblem {
  return new ApiProblem(401, 'UNAUTHORIZED', 'Send a key that is known here: "Authorization: Bearer <key>".');
}
