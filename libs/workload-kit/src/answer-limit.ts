import type { FastifyReply } from 'fastify';

/** Aborted when an API shuts down, so that waiting calls answer with what they have. */
const lastAnswers = new WeakMap<object, AbortController>();

/** Aborts when the caller disconnects or the API shuts down. */
export function enoughOf(reply: FastifyReply): AbortSignal {
  const gone = new AbortController();
  reply.raw.once('close', () => gone.abort());
  return AbortSignal.any([gone.signal, controllerOf(reply.server.server).signal]);
}

/** @param server the HTTP server of the api that shuts down */
export function endWaits(server: object): void {
  controllerOf(server).abort();
}

function controllerOf(server: object): AbortController {
  const known = lastAnswers.get(server) ?? new AbortController();
  lastAnswers.set(server, known);
  return known;
}
