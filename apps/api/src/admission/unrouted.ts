import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { ApiProblem } from '../problem.js';
import type { Check } from './check.js';

/**
 * Refuses a request that no route takes: with the methods there are where its path is right, else as not found. To be called
 * before routes are made.
 */
export function refuseUnrouted(app: NestFastifyApplication): Check {
  const routes: { readonly path: RegExp; readonly methods: readonly string[] }[] = [];
  const fastify = app.getHttpAdapter().getInstance();
  fastify.addHook('onRoute', ({ url, method }) => {
    // What takes every path says nothing of this one.
    if (/^\/?\*$/.test(url)) return;
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
    if (allowed.size === 0) return new ApiProblem(404, 'NOT_FOUND', 'There is nothing at this path.');
    const allow = [...allowed].toSorted().join(', ');
    const detail = `Use one of these methods here: ${allow}.`;
    return new ApiProblem(405, 'METHOD_NOT_ALLOWED', detail, { headers: { allow } });
  };
}
