import type { FastifyReply } from 'fastify';

/** Of an api that serves its last answers: calls that wait for something answer with what there is. */
const lastAnswers = new WeakMap<object, AbortController>();

/** Aborts when a call has waited long enough: its caller is gone, or the api shuts down. */
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
