import { describeError } from '#http';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** Answers an error that occurs before a route is found, as problem+json. */
export function sendProblem(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const { problem, retryAfter, headers } = describeError(error, request);
  if (retryAfter !== undefined) reply.header('retry-after', retryAfter);
  reply.headers(headers);
  void reply.status(problem.status).type('application/problem+json').send(JSON.stringify(problem));
}
