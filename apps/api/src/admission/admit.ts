import { ApiProblem } from '#http';
import type { Runtime } from '#runtime';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { keysOf, type ApiEnv } from '../api-env.js';
import { EVENTS_PATH } from '../events/events.controller.js';
import { sendProblem } from '../send-problem.js';
import { refuseForeignHost, refuseOtherSite, requireKey } from './caller.js';
import { refuseUnclearHost } from './request-target.js';
import { refuseUnrouted } from './unrouted.js';

/** Returns why a request is refused before its body is read; undefined if it is not. */
export type Check = (request: FastifyRequest) => ApiProblem | undefined;

/** Default headers, which routes may override: no frames, no scripts, no content sniffing. */
const PAGE_HEADERS = {
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
};

/**
 * Refuses requests before their body is read, so that refused callers use no memory. The first check that refuses determines
 * the answer. Call before routes are registered.
 */
export function admit(fastify: FastifyInstance, runtime: Runtime, env: ApiEnv): void {
  const checks = [
    refuseUnclearHost,
    ...checksOfCaller(env),
    refuseUnrouted(fastify),
    refuseWithoutStore(runtime),
  ];
  fastify.addHook('onRequest', (request, reply, done) => {
    reply.headers(PAGE_HEADERS);
    for (const check of checks) {
      const problem = check(request);
      if (problem) return sendProblem(problem, request, reply);
    }
    done();
  });
}

function checksOfCaller(env: ApiEnv): Check[] {
  const keys = keysOf(env);
  if (keys) return [requireKey(keys, env.EVENT_SECRETS ? [EVENTS_PATH] : [])];
  return [refuseForeignHost(env.HOST), refuseOtherSite];
}

/** Refuses a call that needs the store while there is no connection. It would wait for the first one however long that takes. */
function refuseWithoutStore({ redis }: Runtime): Check {
  return ({ routeOptions: { url = '' } }) =>
    redis.status === 'ready' || !url.startsWith('/v1/')
      ? undefined
      : new ApiProblem(503, 'STORE_UNAVAILABLE', 'The store cannot be reached. Try again in 2 s.', {
          retryAfterMs: 2_000,
        });
}
