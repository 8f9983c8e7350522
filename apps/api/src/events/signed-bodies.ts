import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { ServerResponse } from 'node:http';
import { findKeyIn } from '../auth/api-key.guard.js';
import type { ApiKey } from '../auth/api-keys.js';
import { sendProblem } from '../error.filter.js';
import { ApiProblem } from '../problem.js';
import { EVENTS_PATH } from './events.controller.js';
import { troubleWithHeaders } from './signature.js';

const MOST_AT_ONCE = 32;
const RETRY_AFTER_MS = 5_000;

/**
 * Bounds the memory that strangers take up with events whose signature turns out to be wrong: it covers the whole body, which is
 * therefore read first. Headers that no sender with a secret would send are refused before that, and only a few bodies of callers
 * without a key are read at once. Callers with a key do not count, so a flood does not shut them out.
 */
export function boundSignedBodies(app: NestFastifyApplication, keys: readonly ApiKey[] = []): void {
  const bound = new BodiesAtOnce();
  app
    .getHttpAdapter()
    .getInstance()
    .addHook('onRequest', (request, reply, done) => {
      const { routeOptions, headers } = request;
      if (routeOptions.url !== EVENTS_PATH || findKeyIn(headers.authorization, keys)) return done();
      const trouble = troubleWithHeaders(headers, Date.now());
      if (trouble) return sendProblem(new ApiProblem(401, 'BAD_SIGNATURE', trouble), request, reply);
      if (!bound.begin(reply.raw)) return sendProblem(eventsBusy(), request, reply);
      done();
    });
}

/** Counts the requests whose body is read or held. */
class BodiesAtOnce {
  private count = 0;

  /** Answers whether there is room; then the request counts until its response ends or its connection closes. */
  begin(response: ServerResponse): boolean {
    if (this.count >= MOST_AT_ONCE) return false;
    this.count += 1;
    response.once('close', () => (this.count -= 1));
    return true;
  }
}

function eventsBusy(): ApiProblem {
  return new ApiProblem(
    503,
    'EVENTS_BUSY',
    `${MOST_AT_ONCE} events from callers without a key are being read, the most at once. Send it again later, or send a key too.`,
    { retryAfterMs: RETRY_AFTER_MS },
  );
}
