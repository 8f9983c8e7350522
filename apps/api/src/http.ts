import { Runtime, NestLog } from '#runtime';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, RequestListener } from 'node:http';
import { admit } from './admission/admit.js';
import { pathOf } from './admission/request-target.js';
import type { ApiEnv } from './api-env.js';
import { ApiModule } from './api.module.js';
import { logRequests } from './audit/request-log.js';
import { keepBytes, limitBodies } from './bodies.js';
import { ApiDocument } from './docs/api-document.js';
import { sendProblem } from './error.filter.js';
import { boundSignedBodies } from './events/signed-bodies.js';
import { openServer } from './server/server.js';

const MAX_BODY_BYTES = 1024 * 1024;
/** An owner's id has up to 512 bytes, each of which may be written as three characters. */
const MAX_PARAM_LENGTH = 2_048;
const GIVEN_ID = /^[\w.-]{1,64}$/;

/** The api as a Nest application on Fastify, not yet listening. */
export async function createApi(runtime: Runtime, env: ApiEnv): Promise<NestFastifyApplication> {
  const limits = { maxConnections: env.MAX_CONNECTIONS, requestTimeoutMs: env.REQUEST_TIMEOUT };
  const adapter = new FastifyAdapter({
    serverFactory: (answer: RequestListener) => openServer(answer, limits),
    // The server answers them itself.
    clientErrorHandler: () => undefined,
    bodyLimit: MAX_BODY_BYTES,
    routerOptions: { maxParamLength: MAX_PARAM_LENGTH },
    genReqId: (request: IncomingMessage) => givenId(request.headers['x-request-id']) ?? randomUUID(),
    rewriteUrl: ({ url = '' }) => pathOf(url),
    // A kept-alive connection without a request must not hold up the end.
    forceCloseConnections: 'idle',
    // What is wrong before a route is found, such as a path that cannot be decoded, is worded like all else.
    frameworkErrors: (error: Error, request: FastifyRequest, reply: FastifyReply) =>
      sendProblem(error, request, reply),
  });
  const app = await NestFactory.create<NestFastifyApplication>(ApiModule.with(runtime, env), adapter, {
    logger: new NestLog(runtime.log),
    abortOnError: false,
  });
  logRequests(app, runtime);
  admit(app, env);
  if (env.EVENT_SECRETS) boundSignedBodies(app, env.API_KEYS);
  takeEmptyBodies(app);
  limitBodies(app);
  keepBytes(app, MAX_BODY_BYTES);
  app.get(ApiDocument).describe(app);
  return app;
}

/** Many clients name JSON on every request, also on one without a body; that is no mistake worth a refusal. */
function takeEmptyBodies(app: NestFastifyApplication): void {
  app
    .getHttpAdapter()
    .getInstance()
    .addHook('onRequest', ({ raw: { headers } }, _reply, done) => {
      const isEmpty = (headers['content-length'] ?? '0') === '0' && !headers['transfer-encoding'];
      if (isEmpty) delete headers['content-type'];
      done();
    });
}

function givenId(header: string | string[] | undefined): string | undefined {
  return typeof header === 'string' && GIVEN_ID.test(header) ? header : undefined;
}
