import type { FastifyRequest } from 'fastify';
import { ApiProblem } from '#http';

const SAFE = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE']);
const OWN_SITES = new Set(['same-origin', 'none']);

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
