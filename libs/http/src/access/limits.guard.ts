import { JobReader } from '#nestjs';
import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { ApiProblem, notFound } from '../problem.js';
import type { CalledRequest } from '../scopes.js';
import { CallerLimits } from './caller-limits.js';
import { TOUCHES, type Touched } from './touches.js';

type Request = CalledRequest & { readonly params: Readonly<Record<string, string>> };

/** A job outside the limits is answered like one that does not exist. */
const NO_SUCH_JOB = 'There is no job with this id.';

/**
 * Holds callers with limits to what they may touch, by what each route declares. It comes behind the guard that sets the name and the
 * limits of the caller. A route that declares nothing is closed to them.
 */
@Injectable()
export class LimitsGuard implements CanActivate {
  /** An application may guard its routes by this guard, and a controller its own once more. */
  private readonly checked = new WeakSet<object>();

  constructor(
    private readonly reflector: Reflector,
    private readonly jobs: JobReader,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<Request>();
    if (!request.limits || this.checked.has(request)) return true;
    const touched = this.reflector.getAllAndOverride<Touched | undefined>(TOUCHES, [
      context.getHandler(),
      context.getClass(),
    ]);
    await this.check(touched, request, CallerLimits.of(request));
    this.checked.add(request);
    return true;
  }

  private async check(
    touched: Touched | undefined,
    { params }: Request,
    limits: CallerLimits,
  ): Promise<void> {
    if (touched === undefined) throw undeclared();
    if (touched === 'nothing' || touched === 'checked') return;
    if (touched === 'fleet') return limits.checkFleet();
    if (touched === 'owner') return limits.checkWholeOwners([params['type']!]);
    if ('ownerTypes' in touched) return limits.checkWholeOwners(touched.ownerTypes);
    const job = await this.jobs.read(params[touched.job]!);
    if (!job || !limits.admits(job)) throw notFound(NO_SUCH_JOB);
  }
}

function undeclared(): ApiProblem {
  const detail =
    'This route does not declare what it touches, so no key with limits can open it. Add @Touches(…) to it.';
  return new ApiProblem(403, 'FORBIDDEN', detail);
}
