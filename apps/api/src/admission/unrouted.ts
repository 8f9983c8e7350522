import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { sendProblem } from '../error.filter.js';
import { ApiProblem } from '../problem.js';

/**
 * Answers a request that no route takes, before its body is read: with the methods there are where its path is right, else as not
 * found. To be called before routes are made.
 */
export function answerUnrouted(app: NestFastifyApplication): void {
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
    if (allowed.size === 0)
      return sendProblem(new ApiProblem(404, 'NOT_FOUND', 'There is nothing at this path.'), request, reply);
    const allow = [...allowed].toSorted().join(', ');
    reply.header('allow', allow);
    const problem = new ApiProblem(405, 'METHOD_NOT_ALLOWED', `Use one of these methods here: ${allow}.`);
    sendProblem(problem, request, reply);
  });
}
