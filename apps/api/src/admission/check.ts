import type { FastifyRequest } from 'fastify';
import type { ApiProblem } from '../problem.js';

/** Answers why a request is refused before its body is read; undefined when it is not. */
export type Check = (request: FastifyRequest) => ApiProblem | undefined;
