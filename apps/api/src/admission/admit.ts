import type { Runtime } from '#runtime';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { ApiEnv } from '../api-env.js';
import { sendProblem } from '../send-problem.js';
import { EVENTS_PATH } from '../events/events.controller.js';
import type { Check } from './check.js';
import { refuseForeignHost } from './foreign-host.js';
import { refuseOtherSite } from './other-site.js';
import { PAGE_HEADERS } from './page-headers.js';
import { requireKey } from './require-key.js';
import { refuseWithoutStore } from './store-away.js';
import { refuseUnclearHost } from './unclear-host.js';
import { refuseUnrouted } from './unrouted.js';

/**
 * Refuses requests before their body is read, so that refused callers use no memory. The first check that refuses determines
 * the answer. Call before routes are registered.
 */
export function admit(app: NestFastifyApplication, runtime: Runtime, env: ApiEnv): void {
  const checks = [
    refuseUnclearHost,
    ...checksOfCaller(env),
    refuseUnrouted(app),
    refuseWithoutStore(runtime),
  ];
  const fastify = app.getHttpAdapter().getInstance();
  fastify.addHook('onRequest', (request, reply, done) => {
    reply.headers(PAGE_HEADERS);
    for (const check of checks) {
      const problem = check(request);
      if (problem) return sendProblem(problem, request, reply);
    }
    done();
  });
}

function checksOfCaller({ API_KEYS, EVENT_SECRETS, HOST }: ApiEnv): Check[] {
  if (API_KEYS) return [requireKey(API_KEYS, EVENT_SECRETS ? [EVENTS_PATH] : [])];
  return [refuseForeignHost(HOST), refuseOtherSite];
}
