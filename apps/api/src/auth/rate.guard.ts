import { ApiProblem, type CalledRequest } from '#http';
import { Journal } from '#nestjs';
import { RateLimits, type Rate } from '#runtime';
import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';

/** A request whose key may have a rate, set by `ApiKeyGuard`. */
export interface RatedRequest extends CalledRequest {
  rate?: Rate | undefined;
}

/**
 * Refuses a request of a key that has used up its rate. If the store cannot say so in time, the request goes on: the rate protects the
 * store from a caller, it is no permission, and a request that needs the store fails without it anyway.
 */
@Injectable()
export class RateGuard implements CanActivate {
  constructor(
    private readonly rates: RateLimits,
    private readonly journal: Journal,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const { caller, rate } = context.switchToHttp().getRequest<RatedRequest>();
    if (!caller || !rate) return true;
    const waitMs = await this.rates.take(caller, rate).catch((error: unknown) => {
      this.journal.trouble('The rates of keys', error);
      return 0;
    });
    if (waitMs > 0) throw tooMany(caller, rate, waitMs);
    return true;
  }
}

function tooMany(caller: string, { count, perMs }: Rate, retryAfterMs: number): ApiProblem {
  const detail = `The key "${caller}" may make ${count} requests in ${perMs / 1_000} s. Try again in ${retryAfterMs} ms.`;
  return new ApiProblem(429, 'RATE_LIMITED', detail, { retryAfterMs });
}
