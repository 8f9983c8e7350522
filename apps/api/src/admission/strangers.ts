import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { readKey } from '../auth/api-key.guard.js';
import type { ApiKey } from '../auth/api-keys.js';
import { sendProblem } from '../error.filter.js';

/** Fastify reads no body of these. The guard asks for their key, by the route that matched. */
const WITHOUT_BODY = new Set(['GET', 'HEAD']);

/**
 * Refuses a caller without a key before the body is read, on every path, however it is spelled, also where there is no route.
 * A signed route reads it: the signature says who sent it, and covers the whole body.
 */
export function refuseStrangers(
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
        if (!isSigned && !WITHOUT_BODY.has(request.method)) readKey(request.headers.authorization, keys);
        done();
      } catch (error) {
        sendProblem(error, request, reply);
      }
    });
}
