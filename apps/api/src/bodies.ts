import { takesBytes, takesUpTo } from '#workload-kit/api';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyInstance, FastifyRequest, RawServerDefault } from 'fastify';
import { ApiProblem } from '#http';

/** Call before routes are registered. */
export function limitBodies(fastify: FastifyInstance): void {
  fastify.addHook('onRoute', (route) => {
    const most = takesUpTo(route.config);
    if (most !== undefined) route.bodyLimit = most;
  });
}

/**
 * Leaves the body unparsed on routes that ask for bytes, because it is signed or is not JSON. Every other route accepts only
 * JSON. Call before routes are registered.
 */
export function keepBytes(app: NestFastifyApplication, bodyLimit: number): void {
  const fastify = app.getHttpAdapter().getInstance();
  const readJson = fastify.getDefaultJsonParser('error', 'error');
  // Fastify's parser would return text.
  fastify.removeContentTypeParser('text/plain');
  app.useBodyParser<RawServerDefault>('application/json', { bodyLimit }, (request, body, done) => {
    if (wantsBytes(request)) return done(null, body);
    const text = body.toString();
    void readJson(request, text, (error, value) => done(error && isJson(text) ? DANGEROUS : error, value));
  });
  app.useBodyParser<RawServerDefault>('*', { bodyLimit }, (request, body, done) => {
    if (wantsBytes(request)) done(null, body);
    else done(new ApiProblem(415, 'UNSUPPORTED_MEDIA_TYPE', 'Send application/json.'));
  });
}

function wantsBytes(request: FastifyRequest): boolean {
  return takesBytes(request.routeOptions.config);
}

/** Valid JSON that would change the prototype of the parsed object. */
const DANGEROUS = new ApiProblem(
  400,
  'INVALID',
  'The body has a forbidden key: "__proto__", or "prototype" in "constructor".',
);

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
