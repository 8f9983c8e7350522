import { takesBytes, takesUpTo } from '#http';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyRequest, RawServerDefault } from 'fastify';
import { ApiProblem } from './problem.js';

/** To be called before routes are made. */
export function limitBodies(app: NestFastifyApplication): void {
  app
    .getHttpAdapter()
    .getInstance()
    .addHook('onRoute', (route) => {
      const most = takesUpTo(route.config);
      if (most !== undefined) route.bodyLimit = most;
    });
}

/**
 * Where a route asks for bytes its body is left as it came: a signature is about it, or it is no JSON. Every other route takes
 * JSON and nothing else. To be called before routes are made.
 */
export function keepBytes(app: NestFastifyApplication, bodyLimit: number): void {
  const fastify = app.getHttpAdapter().getInstance();
  const readJson = fastify.getDefaultJsonParser('error', 'error');
  // Fastify's own would give text.
  fastify.removeContentTypeParser('text/plain');
  app.useBodyParser<RawServerDefault>('application/json', { bodyLimit }, (request, body, done) => {
    if (isLeft(request)) return done(null, body);
    const text = body.toString();
    void readJson(request, text, (error, value) => done(error && isJson(text) ? DANGEROUS : error, value));
  });
  app.useBodyParser<RawServerDefault>('*', { bodyLimit }, (request, body, done) => {
    if (isLeft(request)) done(null, body);
    else done(new ApiProblem(415, 'UNSUPPORTED_MEDIA_TYPE', 'Send application/json.'));
  });
}

function isLeft(request: FastifyRequest): boolean {
  return takesBytes(request.routeOptions.config);
}

/** JSON it is, and yet it is not taken: it would give what reads it another prototype. */
const DANGEROUS = new ApiProblem(
  400,
  'INVALID',
  'The body has a key that is not taken: "__proto__", or "prototype" in "constructor".',
);

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
