import { AuditLog } from '#nestjs';
import { Runtime, NestLog } from '#runtime';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, RequestListener } from 'node:http';
import { admit } from './admission/admit.js';
import { pathOf } from './admission/request-target.js';
import { keysOf, type ApiEnv } from './api-env.js';
import { ApiModule } from './api.module.js';
import { logRequests } from './audit/request-log.js';
import { keepBytes, limitBodies } from './bodies.js';
import { ApiDocument } from './docs/api-document.js';
import { sendProblem } from './send-problem.js';
import { boundSignedBodies } from './events/signed-bodies.js';
import { openServer } from './server/server.js';

const MAX_BODY_BYTES = 1024 * 1024;
/** An owner's id has up to 512 bytes, and URL encoding takes up to three characters per byte. */
const MAX_PARAM_LENGTH = 2_048;
const REQUEST_ID = /^[\w.-]{1,64}$/;

/** Creates the API as a Nest application on Fastify. It does not listen yet. */
export async function createApi(runtime: Runtime, env: ApiEnv): Promise<NestFastifyApplication> {
  const limits = { maxConnections: env.MAX_CONNECTIONS, requestTimeoutMs: env.REQUEST_TIMEOUT };
  const adapter = new FastifyAdapter({
    serverFactory: (answer: RequestListener) => openServer(answer, limits),
    // The server answers client errors itself.
    clientErrorHandler: () => undefined,
    bodyLimit: MAX_BODY_BYTES,
    routerOptions: { maxParamLength: MAX_PARAM_LENGTH },
    genReqId: (request: IncomingMessage) => clientRequestId(request.headers['x-request-id']) ?? randomUUID(),
    rewriteUrl: ({ url = '' }) => pathOf(url),
    // An idle keep-alive connection must not delay shutdown.
    forceCloseConnections: 'idle',
    // Errors before a route is found, such as an undecodable path, get a problem document too.
    frameworkErrors: (error: Error, request: FastifyRequest, reply: FastifyReply) =>
      sendProblem(error, request, reply),
  });
  const app = await NestFactory.create<NestFastifyApplication>(await ApiModule.with(runtime, env), adapter, {
    logger: new NestLog(runtime.log),
    abortOnError: false,
  });
  const fastify = adapter.getInstance();
  logRequests(fastify, runtime, app.get(AuditLog, { strict: false }));
  admit(fastify, runtime, env);
  if (env.EVENT_SECRETS) boundSignedBodies(fastify, keysOf(env));
  takeEmptyBodies(fastify);
  limitBodies(fastify);
  keepBytes(app, MAX_BODY_BYTES);
  app.get(ApiDocument).describe(app);
  return app;
}

/** Many clients send a JSON content type on requests without a body. */
function takeEmptyBodies(fastify: FastifyInstance): void {
  fastify.addHook('onRequest', ({ raw: { headers } }, _reply, done) => {
    const isEmpty = (headers['content-length'] ?? '0') === '0' && !headers['transfer-encoding'];
    if (isEmpty) delete headers['content-type'];
    done();
  });
}

function clientRequestId(header: string | string[] | undefined): string | undefined {
  return typeof header === 'string' && REQUEST_ID.test(header) ? header : undefined;
}
