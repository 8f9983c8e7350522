import type { CalledRequest } from '#http';
import { logContext, type Runtime } from '#runtime';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { RefusalLog } from './refusal-log.js';

/** Adds the request id to every log line of a request and to its answer. */
export function logRequests(fastify: FastifyInstance, { log }: Runtime): void {
  const refusals = new RefusalLog(log);
  fastify.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id);
    logContext.run({ requestId: request.id }, done);
  });
  fastify.addHook(
    'onResponse',
    (request: FastifyRequest & CalledRequest, reply: FastifyReply, done: () => void) => {
      const { method, ip: address, caller: by } = request;
      const status = reply.statusCode;
      // The query is omitted, because it may hold secrets.
      const [url] = request.url.split('?');
      const tookMs = Math.round(reply.elapsedTime);
      logContext.run({ requestId: request.id }, () => {
        log[status >= 500 ? 'warn' : 'debug']({ event: 'request.answered', method, url, status, tookMs });
        if (status === 401 || status === 403) refusals.note({ status, method, url, address, by });
      });
      done();
    },
  );
}
