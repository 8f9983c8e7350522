import { logContext, NestLog, Runtime } from '#runtime';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { DocumentBuilder, SwaggerModule } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { ApiEnv } from './api.env.js';
import { ApiModule } from './api.module.js';

const MAX_BODY_BYTES = 1024 * 1024;
const GIVEN_ID = /^[\w.-]{1,64}$/;

/** The api as a Nest application on Fastify, not yet listening. */
export async function createApi(runtime: Runtime, env: ApiEnv): Promise<NestFastifyApplication> {
  const adapter = new FastifyAdapter({
    bodyLimit: MAX_BODY_BYTES,
    genReqId: (request: IncomingMessage) => givenId(request.headers['x-request-id']) ?? randomUUID(),
    // A kept-alive connection without a request must not hold up the end.
    forceCloseConnections: 'idle',
    requestTimeout: 30_000,
  });
  const app = await NestFactory.create<NestFastifyApplication>(ApiModule.with(runtime, env), adapter, {
    logger: new NestLog(runtime.log),
    abortOnError: false,
  });
  logRequests(app, runtime);
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
    const { method, url } = request;
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
