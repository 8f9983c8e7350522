import { endWaits } from '#http';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { sendProblem } from './error.filter.js';
import { ApiProblem } from './problem.js';

/** Longer than any answer takes, but for streams and callers that wait for a cancel to be done; those are cut off. */
const LAST_ANSWERS_MS = 2_500;

/** Served until the end: what asks them must see that this process drains, not that it is gone. */
const HEALTH = ['/livez', '/readyz', '/metrics'];

/**
 * The end of an api whose port stays open for its health: requests under way are answered, new ones are refused with 503
 * on a connection that then closes. It is made before the application listens.
 */
export class LastAnswers {
  private readonly underWay = new Set<FastifyReply>();
  private isClosing = false;
  private resolveAllAnswered: (() => void) | undefined;

  constructor(private readonly app: NestFastifyApplication) {
    const fastify = app.getHttpAdapter().getInstance();
    fastify.addHook('onRequest', (request: FastifyRequest, reply: FastifyReply, done: () => void) => {
      if (HEALTH.includes(request.routeOptions.url ?? '')) return done();
      if (this.isClosing) return refuse(request, reply);
      this.underWay.add(reply);
      // Not Fastify's own hook: it is not called for a caller who hung up.
      reply.raw.once('close', () => this.markAnswered(reply));
      done();
    });
  }

  async finish(): Promise<void> {
    this.isClosing = true;
    endWaits(this.app.getHttpServer());
    // Also ends connections on which no request came, which would hold up the close of the server.
    setTimeout(() => this.app.getHttpServer().closeAllConnections(), LAST_ANSWERS_MS).unref();
    if (this.underWay.size > 0) await new Promise<void>((resolve) => (this.resolveAllAnswered = resolve));
  }

  private markAnswered(reply: FastifyReply): void {
    this.underWay.delete(reply);
    if (this.underWay.size === 0) this.resolveAllAnswered?.();
  }
}

function refuse(request: FastifyRequest, reply: FastifyReply): void {
  reply.header('connection', 'close');
  const detail = 'This api is shutting down and takes no more requests. Send it again: another one answers.';
  sendProblem(new ApiProblem(503, 'SHUTTING_DOWN', detail, { retryAfterMs: 1_000 }), request, reply);
}
