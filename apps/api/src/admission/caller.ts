import type { FastifyRequest } from 'fastify';
import { ApiProblem } from '#http';
import { findKeyIn, keyRequired } from '../auth/api-key.guard.js';
import type { ApiKey } from '../auth/api-keys.js';
import type { Check } from './admit.js';

/** Fastify reads no body for these methods. The guard checks their key by route. */
const WITHOUT_BODY = new Set(['GET', 'HEAD']);
const SAFE = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE']);
const OWN_SITES = new Set(['same-origin', 'none']);

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

/**
 * Protects an API without keys against DNS rebinding: a web page could reach this port under its own name. Only names of this
 * machine are accepted.
 */
export function refuseForeignHost(host: string): Check {
  const ours = new Set(['localhost', '127.0.0.1', '[::1]', host, `[${host}]`]);
  return ({ hostname }) =>
    ours.has(hostname.toLowerCase())
      ? undefined
      : new ApiProblem(421, 'WRONG_HOST', `This API does not serve this host name. Use ${host}.`);
}

/**
 * Protects an API without keys against cross-site requests. Browsers say which site a request comes from; other programs send
 * no such header and are admitted. With keys this is not needed, because browsers never add a key to a cross-site request.
 */
export function refuseOtherSite(request: FastifyRequest): ApiProblem | undefined {
  if (SAFE.has(request.method) || isOurs(request)) return undefined;
  return new ApiProblem(
    403,
    'CROSS_SITE',
    'Pages of other sites must not change anything. Call the API from its own pages or from a program, or set API_KEYS.',
  );
}

function isOurs({ headers }: FastifyRequest): boolean {
  const { origin, 'sec-fetch-site': site } = headers;
  const isOwnOrigin = origin === undefined || origin === `http://${headers.host?.toLowerCase()}`;
  return isOwnOrigin && (site === undefined || OWN_SITES.has(site));
}
