import { takesBytes } from '#http';
import { logContext, NestLog, Runtime } from '#runtime';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { DocumentBuilder, SwaggerModule } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, RequestListener } from 'node:http';
import type { ApiEnv } from './api.env.js';
import { refuseWrongMethods } from './allowed-methods.js';
import { ApiModule } from './api.module.js';
import { readKey } from './auth/api-key.guard.js';
import type { ApiKey } from './auth/api-keys.js';
import { keepBytes, limitBodies } from './bodies.js';
import { sendProblem } from './error.filter.js';
import { EVENTS_PATH } from './events/events.controller.js';
import { ApiProblem } from './problem.js';
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
  if (env.API_KEYS) refuseStrangers(app, env.API_KEYS, env.EVENT_SECRETS ? [EVENTS_PATH] : []);
  else refuseForeignHosts(app, env.HOST);
  refuseWrongMethods(app);
  takeEmptyBodies(app);
  limitBodies(app);
  keepBytes(app, MAX_BODY_BYTES);
  serveDocs(app);
  return app;
}

/** Every line that a request causes carries its id, and so does its answer. */
function logRequests(app: NestFastifyApplication, { log }: Runtime): void {
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

/**
 * Before its body is read: a stranger gets no memory of ours. What a key may do the guard says later. Where a request is
 * signed the signature says who it is, and that is known of the whole body only.
 */
function refuseStrangers(
  app: NestFastifyApplication,
  keys: readonly ApiKey[],
  signedRoutes: readonly string[],
): void {
  app
    .getHttpAdapter()
    .getInstance()
    .addHook('onRequest', (request, reply, done) => {
      try {
        const isSigned = signedRoutes.includes(request.routeOptions.url ?? '');
        const isKeyed = request.url.startsWith('/v1/') || takesBytes(request.routeOptions.config);
        if (isKeyed && !isSigned) readKey(request.headers.authorization, keys);
        done();
      } catch (error) {
        sendProblem(error, request, reply);
      }
    });
}

/**
 * Without keys whoever reaches this port may do everything. A page in a browser reaches it under a name of its own that
 * points here; so only the names of this machine are answered.
 */
function refuseForeignHosts(app: NestFastifyApplication, host: string): void {
  const ours = new Set(['localhost', '127.0.0.1', '[::1]', host, `[${host}]`]);
  app
    .getHttpAdapter()
    .getInstance()
    .addHook('onRequest', (request, reply, done) => {
      if (ours.has(request.hostname.toLowerCase())) return done();
      sendProblem(
        new ApiProblem(421, 'WRONG_HOST', `This api does not answer to that name. Use ${host}.`),
        request,
        reply,
      );
    });
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

function serveDocs(app: NestFastifyApplication): void {
  const config = new DocumentBuilder()
    .setTitle('Mooring')
    .setDescription('A BullMQ worker fleet in which every job is moored to an owner.')
    .setVersion('1')
    .addBearerAuth()
    .build();
  SwaggerModule.setup('docs', app, () => SwaggerModule.createDocument(app, config), {
    jsonDocumentUrl: 'openapi.json',
    yamlDocumentUrl: 'openapi.yaml',
  });
}

function givenId(header: string | string[] | undefined): string | undefined {
  return typeof header === 'string' && GIVEN_ID.test(header) ? header : undefined;
}
