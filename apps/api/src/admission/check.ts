import type { FastifyRequest } from 'fastify';
import type { ApiProblem } from '#http';

/** Returns why a request is refused before its body is read; undefined if it is not. */
export type Check = (request: FastifyRequest) => ApiProblem | undefined;
