import type { FastifyInstance } from 'fastify';
import { ApiProblem, notFound } from '#http';
import type { Check } from './admit.js';

/**
 * Refuses a request without a route: 405 with the allowed methods if the path exists, otherwise 404. Call before routes are
 * registered.
 */
export function refuseUnrouted(fastify: FastifyInstance): Check {
  const routes: { readonly path: RegExp; readonly methods: readonly string[] }[] = [];
  fastify.addHook('onRoute', ({ url, method }) => {
    // A catch-all route does not show that a path exists, and the start page only leads to the console.
    if (/^\/?\*?$/.test(url)) return;
    const path = url
      .replaceAll('.', '\\.')
      .replaceAll(/:[^/]+/g, '[^/]+')
      .replace(/\*$/, '.*');
    routes.push({ path: new RegExp(`^${path}$`), methods: [method].flat() });
  });
  return ({ is404, url }) => {
    if (!is404) return undefined;
    const [path = ''] = url.split('?');
    const allowed = new Set(
      routes.filter((route) => route.path.test(path)).flatMap(({ methods }) => methods),
    );
    if (allowed.size === 0) return notFound('There is nothing at this path.');
    const allow = [...allowed].toSorted().join(', ');
    const detail = `Use one of these methods here: ${allow}.`;
    return new ApiProblem(405, 'METHOD_NOT_ALLOWED', detail, { headers: { allow } });
  };
}
