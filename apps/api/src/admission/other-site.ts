import type { FastifyRequest } from 'fastify';
import { ApiProblem } from '../problem.js';

const SAFE = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE']);
const OWN_SITES = new Set(['same-origin', 'none']);

/**
 * Without keys a page of any site could change something here through the browser of a developer who looks at it. Browsers say
 * which page a request comes from; other programs say nothing, and are answered. With keys this is not needed: no browser adds a
 * key to another site's request by itself.
 */
export function refuseOtherSite(request: FastifyRequest): ApiProblem | undefined {
  if (SAFE.has(request.method) || isOurs(request)) return undefined;
  return new ApiProblem(
    403,
    'CROSS_SITE',
    'A page of another site may change nothing here. Call the api from its own pages or from a program, or give it API_KEYS.',
  );
}

function isOurs({ headers }: FastifyRequest): boolean {
  const { origin, 'sec-fetch-site': site } = headers;
  const isOwnOrigin = origin === undefined || origin === `http://${headers.host?.toLowerCase()}`;
  return isOwnOrigin && (site === undefined || OWN_SITES.has(site));
}
