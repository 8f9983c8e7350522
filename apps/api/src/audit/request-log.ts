import type { CalledRequest } from '#http';
import type { AuditLog } from '#nestjs';
import { logContext, type Runtime } from '#runtime';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { RefusalLog } from './refusal-log.js';

/** Adds the request id to every log line of a request and to its answer. */
export function logRequests(fastify: FastifyInstance, { log }: Runtime, audit: AuditLog): void {
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
        if (status !== 401 && status !== 403) return;
        const isLogged = refusals.note({ status, method, url, address, by });
        // Those without a line of their own are left out: refusals must not fill the audit log.
        if (!isLogged || by === undefined || request.isAudited) return;
        const refused = { who: by, what: 'key.refused', on: `${method} ${url}`, outcome: 'refused' } as const;
        const entry = { ...refused, status, requestId: request.id, address };
        audit.write(entry).catch((err: unknown) => log.warn({ event: 'audit.lost', err }));
      });
      done();
    },
  );
}
