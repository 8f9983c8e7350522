import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { sendProblem } from './error.filter.js';
import { ApiProblem } from './problem.js';

/** Tells a request whose path is right and whose method is wrong which methods there are. To be called before routes are made. */
export function refuseWrongMethods(app: NestFastifyApplication): void {
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
  fastify.addHook('onRequest', (request, reply, done) => {
    if (!request.is404) return done();
    const [path = ''] = request.url.split('?');
    const allowed = new Set(
      routes.filter((route) => route.path.test(path)).flatMap(({ methods }) => methods),
    );
    if (allowed.size === 0) return done();
    const allow = [...allowed].toSorted().join(', ');
    reply.header('allow', allow);
    const problem = new ApiProblem(405, 'METHOD_NOT_ALLOWED', `Use one of these methods here: ${allow}.`);
    sendProblem(problem, request, reply);
  });
}
