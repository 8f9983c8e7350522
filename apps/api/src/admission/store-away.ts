import { ApiProblem } from '#http';
import type { Runtime } from '#runtime';
import type { Check } from './check.js';

const RETRY_AFTER_MS = 2_000;

/** Refuses a call that needs the store while there is no connection. It would wait for the first one however long that takes. */
export function refuseWithoutStore({ redis }: Pick<Runtime, 'redis'>): Check {
  return ({ routeOptions: { url = '' } }) =>
    redis.status === 'ready' || !url.startsWith('/v1/')
      ? undefined
      : new ApiProblem(503, 'STORE_UNAVAILABLE', 'The store cannot be reached. Try again in 2 s.', {
          retryAfterMs: RETRY_AFTER_MS,
        });
}
