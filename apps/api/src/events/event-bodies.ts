import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { RawServerDefault } from 'fastify';
import { ApiProblem } from '../problem.js';
import { EVENTS_PATH } from './events.controller.js';

/**
 * An event's body is left as the bytes that came, whatever they are: a signature is about them. Every other route takes JSON
 * and nothing else. To be called before routes are made.
 */
export function keepEventBodies(app: NestFastifyApplication, bodyLimit: number): void {
  const fastify = app.getHttpAdapter().getInstance();
  const readJson = fastify.getDefaultJsonParser('error', 'error');
  // Fastify's own would give text.
  fastify.removeContentTypeParser('text/plain');
  app.useBodyParser<RawServerDefault>('application/json', { bodyLimit }, (request, body, done) => {
    if (request.routeOptions.url === EVENTS_PATH) done(null, body);
    else void readJson(request, body.toString(), done);
  });
  app.useBodyParser<RawServerDefault>('*', { bodyLimit }, (request, body, done) => {
    if (request.routeOptions.url === EVENTS_PATH) done(null, body);
    else done(new ApiProblem(415, 'UNSUPPORTED_MEDIA_TYPE', 'Send application/json.'));
  });
}
