import { findKeyIn, keyRequired } from '../auth/api-key.guard.js';
import type { ApiKey } from '../auth/api-keys.js';
import type { Check } from './check.js';

/** Fastify reads no body for these methods. The guard checks their key by route. */
const WITHOUT_BODY = new Set(['GET', 'HEAD']);

/**
 * Refuses a caller without a key before the body is read, on every path, even without a route. Signed routes are exempt: the
 * signature authenticates the caller and covers the whole body.
 */
export function requireKey(keys: readonly ApiKey[], signedRoutes: readonly string[]): Check {
  return ({ method, headers, routeOptions: { url = '' } }) => {
    if (WITHOUT_BODY.has(method) || signedRoutes.includes(url)) return undefined;
    return findKeyIn(headers.authorization, keys) ? undefined : keyRequired();
  };
}
