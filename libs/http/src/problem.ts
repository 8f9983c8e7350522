import { MooringError } from '#core';
import { HttpException, Logger } from '@nestjs/common';
import { STATUS_CODES } from 'node:http';
import { meansUnavailable, StoreUnavailableError } from '#nestjs';
import { isKnownCode, known } from './openapi/known-problems.js';

/** Codes for errors of the framework, which have none. */
const CODES: Readonly<Record<number, string>> = { 400: 'INVALID', 413: 'TOO_LARGE' };

/** Callers have one code for a store that takes nothing: both pass, and what they do is the same. */
const PUBLIC_CODES: Readonly<Record<string, string>> = { STORE_FULL: 'STORE_UNAVAILABLE' };

export interface ProblemMore {
  readonly retryAfterMs?: number | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Members of the problem that only this code has. */
  readonly members?: Readonly<Record<string, unknown>> | undefined;
}

/** An error of the HTTP layer. */
export class ApiProblem extends HttpException {
  constructor(
    status: number,
    readonly code: string,
    readonly detail: string,
    readonly more: ProblemMore = {},
  ) {
    super(detail, status);
  }
}

export function notFound(detail: string): ApiProblem {
  return new ApiProblem(404, 'NOT_FOUND', detail);
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

const logger = new Logger('Api');

/** The answer to an error. An unexpected one is logged, and its answer reveals nothing of it. */
export function describeError(
  error: unknown,
  { id: requestId = '' }: { readonly id?: string },
): DescribedError {
  const answer = problemOf(error);
  const { code, detail } = answer;
  const status = answer.getStatus();
  if (code === 'INTERNAL') logger.error(error);
  const { retryAfterMs, headers = {}, members } = answer.more;
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
    headers: { ...(code === 'UNAUTHORIZED' && { 'www-authenticate': 'Bearer' }), ...headers },
  };
}

/** The HTTP status of the answer to an error. */
export function statusOfError(error: unknown): number {
  return problemOf(error).getStatus();
}

/** An application may also give its own errors a status. */
type OwnError = MooringError & ProblemMore & { readonly status?: number };

const UNEXPECTED = 'Internal error. The log has the details under this requestId.';

function problemOf(error: unknown): ApiProblem {
  if (error instanceof ApiProblem) return error;
  if (error instanceof MooringError) {
    const code = PUBLIC_CODES[error.code] ?? error.code;
    const { message: detail, retryAfterMs, status = statusOfCode(code) } = error as OwnError;
    if (status !== undefined) return new ApiProblem(status, code, detail, { retryAfterMs });
  }
  if (meansUnavailable(error)) return problemOf(new StoreUnavailableError('The store does not answer.'));
  const status = statusOf(error);
  if (status < 400 || status > 499) return new ApiProblem(500, 'INTERNAL', UNEXPECTED);
  return new ApiProblem(status, CODES[status] ?? nameOf(status), sentenceOf(error));
}

function statusOfCode(code: string): number | undefined {
  return isKnownCode(code) ? known(code).status : undefined;
}

/** Errors of Fastify, such as those of its body parser, have a `statusCode`. */
function statusOf(error: unknown): number {
  if (error instanceof HttpException) return error.getStatus();
  return (error as { statusCode?: number } | undefined)?.statusCode ?? 500;
}

function nameOf(status: number): string {
  return (STATUS_CODES[status] ?? 'REFUSED').toUpperCase().replaceAll(/[^A-Z]+/g, '_');
}

const MAX_DETAIL = 1_000;

/** A validation has a list of messages. Some repeat the input, which may be very long. */
function sentenceOf(error: unknown): string {
  const body = error instanceof HttpException ? error.getResponse() : undefined;
  const message = typeof body === 'object' && 'message' in body ? body.message : (error as Error).message;
  const text = Array.isArray(message) ? message.join('; ') : String(message);
  return text.length > MAX_DETAIL ? `${text.slice(0, MAX_DETAIL)}…` : text;
}
