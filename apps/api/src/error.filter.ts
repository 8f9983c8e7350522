import { LifecycleError } from '#lifecycle';
import { WorkloadError } from '#workload-kit';
import { Catch, HttpException, Logger, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { STATUS_CODES } from 'node:http';
import { ApiProblem } from './problem.js';

/** Maps error codes to HTTP statuses. */
const STATUS: Readonly<Record<string, number>> = {
  INVALID: 400,
  UNKNOWN_KIND: 404,
  NOT_FOUND: 404,
  OWNER_CLOSED: 409,
  OWNER_MOVED: 409,
  SCHEDULES_FULL: 409,
  SLOT_LIMIT: 409,
  TOO_LARGE: 413,
  IDEMPOTENCY_CONFLICT: 422,
  QUEUE_FULL: 429,
  STORE_UNAVAILABLE: 503,
  CLOSED_FULL: 507,
  ARTIFACT_UNAVAILABLE: 503,
};

/** Codes for errors of the framework, which have none. */
const CODE: Readonly<Record<number, string>> = {
  400: 'INVALID',
  404: 'NOT_FOUND',
  405: 'METHOD_NOT_ALLOWED',
  413: 'TOO_LARGE',
  415: 'UNSUPPORTED_MEDIA_TYPE',
};

interface Described {
  readonly status: number;
  readonly code: string;
  readonly detail: string;
  readonly retryAfterMs?: number | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly members?: Readonly<Record<string, unknown>> | undefined;
}

/** Problem details (RFC 9457). */
export interface Problem {
  readonly type: string;
  readonly title: string | undefined;
  readonly status: number;
  readonly code: string;
  readonly detail: string;
  readonly requestId: string;
}

export interface DescribedError {
  readonly problem: Problem;
  /** Seconds until the request may be repeated. */
  readonly retryAfter: number | undefined;
  readonly headers: Readonly<Record<string, string>>;
}

/** Answers every error as problem+json. Unexpected errors are logged, and their answer reveals no details. */
@Catch()
export class ErrorFilter implements ExceptionFilter {
  catch(error: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    sendProblem(error, http.getRequest<FastifyRequest>(), http.getResponse<FastifyReply>());
  }
}

const log = new Logger('Api');

/** Also answers errors that occur before a route is found. */
export function sendProblem(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const { problem, retryAfter, headers } = describeError(error, request);
  const { status } = problem;
  if (problem.code === 'UNAUTHORIZED') reply.header('www-authenticate', 'Bearer');
  if (retryAfter !== undefined) reply.header('retry-after', retryAfter);
  reply.headers(headers);
  void reply.status(status).type('application/problem+json').send(JSON.stringify(problem));
}

/** Returns the problem and the headers of an error. Logs unexpected errors. */
export function describeError(error: unknown, { id: requestId }: Pick<FastifyRequest, 'id'>): DescribedError {
  const { status, code, detail, retryAfterMs, headers = {}, members } = describe(error);
  if (code === 'INTERNAL') log.error(error);
  return {
    problem: {
      ...members,
      type: 'about:blank',
      title: STATUS_CODES[status],
      status,
      code,
      detail,
      requestId,
    },
    retryAfter: retryAfterMs === undefined ? undefined : Math.ceil(retryAfterMs / 1_000),
    headers,
  };
}

function describe(error: unknown): Described {
  if (error instanceof LifecycleError) {
    const { code, message } = error;
    const status = error instanceof WorkloadError ? error.status : (STATUS[code] ?? 500);
    if (status === 500) return UNEXPECTED;
    const { retryAfterMs } = error as { retryAfterMs?: number };
    return { status, code, detail: message, retryAfterMs };
  }
  if (error instanceof ApiProblem) {
    const { code, detail, more } = error;
    return { status: error.getStatus(), code, detail, ...more };
  }

  const status = statusOf(error);
  if (status < 400 || status > 499) return UNEXPECTED;
  return { status, code: CODE[status] ?? nameOf(status), detail: sentence(error) };
}

const UNEXPECTED: Described = {
  status: 500,
  code: 'INTERNAL',
  detail: 'Internal error. The log has the details under this requestId.',
};

function statusOf(error: unknown): number {
  if (error instanceof HttpException) return error.getStatus();
  // Fastify's own errors, such as those of its body parser.
  const { statusCode } = error as { statusCode?: number };
  return statusCode ?? 500;
}

function nameOf(status: number): string {
  return (STATUS_CODES[status] ?? 'REFUSED').toUpperCase().replaceAll(/[^A-Z]+/g, '_');
}

const MAX_DETAIL = 1_000;

/** The validation pipe reports a list of messages, all others a single one. */
function sentence(error: unknown): string {
  const body = error instanceof HttpException ? error.getResponse() : undefined;
  const message = typeof body === 'object' && 'message' in body ? body.message : (error as Error).message;
  const text = Array.isArray(message) ? message.join('; ') : String(message);
  // Some messages repeat the input, which may be very long.
  return text.length > MAX_DETAIL ? `${text.slice(0, MAX_DETAIL)}…` : text;
}
