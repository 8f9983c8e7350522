import { logContext, type Runtime } from '#runtime';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** Every line that a request causes carries its id, and so does its answer. */
export function logRequests(app: NestFastifyApplication, { log }: Runtime): void {
  const fastify = app.getHttpAdapter().getInstance();
  fastify.addHook('onRequest', (request: FastifyRequest, reply: FastifyReply, done: () => void) => {
    reply.header('x-request-id', request.id);
    logContext.run({ requestId: request.id }, done);
  });
  fastify.addHook('onResponse', (request: FastifyRequest, reply: FastifyReply, done: () => void) => {
    const level = reply.statusCode >= 500 ? 'warn' : 'debug';
    const { method } = request;
    // Without the query: it may hold what a log must not.
    const [url] = request.url.split('?');
    log[level]({
      event: 'request.answered',
      method,
      url,
      status: reply.statusCode,
      tookMs: Math.round(reply.elapsedTime),
    });
    done();
  });
}
