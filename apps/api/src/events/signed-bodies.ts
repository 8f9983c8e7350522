import type { FastifyInstance } from 'fastify';
import { findKeyIn } from '../auth/api-key.guard.js';
import type { ApiKey } from '../auth/api-keys.js';
import { sendProblem } from '../send-problem.js';
import { ApiProblem } from '#http';
import { EVENTS_PATH } from './events.controller.js';
import { troubleWithHeaders } from './signature.js';

const MAX_CONCURRENT = 32;
const RETRY_AFTER_MS = 5_000;

/**
 * Bounds the memory that unauthenticated callers can use. A signature covers the whole body, so the body must be read before it
 * can be checked. Requests whose headers are already invalid are refused first, and only a few bodies of callers without a key
 * are read at once. Callers with a key are not counted, so a flood does not lock them out.
 */
export function boundSignedBodies(fastify: FastifyInstance, keys: readonly ApiKey[] = []): void {
  let bodiesInMemory = 0;
  fastify.addHook('onRequest', (request, reply, done) => {
    const { routeOptions, headers } = request;
    if (routeOptions.url !== EVENTS_PATH || findKeyIn(headers.authorization, keys)) return done();
    const trouble = troubleWithHeaders(headers, Date.now());
    if (trouble) return sendProblem(new ApiProblem(401, 'BAD_SIGNATURE', trouble), request, reply);
    if (bodiesInMemory >= MAX_CONCURRENT) return sendProblem(eventsBusy(), request, reply);
    bodiesInMemory += 1;
    // Until its response ends or its connection closes.
    reply.raw.once('close', () => (bodiesInMemory -= 1));
    done();
  });
}

function eventsBusy(): ApiProblem {
  return new ApiProblem(
    503,
    'EVENTS_BUSY',
    `The limit of ${MAX_CONCURRENT} concurrent events from callers without a key is reached. Send the event again later, or send a key.`,
    { retryAfterMs: RETRY_AFTER_MS },
  );
}
