import { endWaits } from '#workload-kit/api';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { sendProblem } from './send-problem.js';
import { ApiProblem } from '#http';

/** Longer than any answer takes, except streams and calls that wait for a cancellation; those are cut off. */
const LAST_ANSWERS_MS = 2_500;

/** Served until the end, so that probes see a draining process and not a missing one. */
const HEALTH = ['/livez', '/readyz', '/metrics'];

/**
 * Shuts the API down while its port stays open for health checks: pending requests are answered, new ones are refused with
 * 503 on a connection that then closes. Create it before the application listens.
 */
export class LastAnswers {
  private readonly pending = new Set<FastifyReply>();
  private isClosing = false;

  constructor(private readonly app: NestFastifyApplication) {
    const fastify = app.getHttpAdapter().getInstance();
    fastify.addHook('onRequest', (request: FastifyRequest, reply: FastifyReply, done: () => void) => {
      if (HEALTH.includes(request.routeOptions.url ?? '')) return done();
      if (this.isClosing) return refuse(request, reply);
      this.pending.add(reply);
      // Fastify's onResponse hook is not called when the caller disconnects.
      reply.raw.once('close', () => this.pending.delete(reply));
      done();
    });
  }

  async finish(): Promise<void> {
    this.isClosing = true;
    endWaits(this.app.getHttpServer());
    // Idle connections would delay the close of the server.
    setTimeout(() => this.app.getHttpServer().closeAllConnections(), LAST_ANSWERS_MS).unref();
    await Promise.all([...this.pending].map(({ raw }) => new Promise((close) => raw.once('close', close))));
  }
}

function refuse(request: FastifyRequest, reply: FastifyReply): void {
  reply.header('connection', 'close');
  const detail = 'This API process is shutting down. Send the request again; another process answers it.';
  sendProblem(new ApiProblem(503, 'SHUTTING_DOWN', detail, { retryAfterMs: 1_000 }), request, reply);
}
