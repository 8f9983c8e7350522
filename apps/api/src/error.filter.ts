import { LifecycleError, StoreUnavailableError } from '#lifecycle';
import { Catch, HttpException, Logger, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { STATUS_CODES } from 'node:http';
import { ApiProblem } from './problem.js';

/** The one place where an error gets its HTTP status. */
const STATUS: Readonly<Record<string, number>> = {
  INVALID: 400,
  UNKNOWN_KIND: 404,
  TOO_LARGE: 413,
  STORE_UNAVAILABLE: 503,
};

/** The codes of refusals that come from the framework and have none of their own. */
const CODE: Readonly<Record<number, string>> = {
  400: 'INVALID',
  404: 'NOT_FOUND',
  405: 'METHOD_NOT_ALLOWED',
  413: 'TOO_LARGE',
  415: 'UNSUPPORTED_MEDIA_TYPE',
};

interface Problem {
  readonly status: number;
  readonly code: string;
  readonly detail: string;
  readonly retryAfterMs?: number;
}

/** Words every error as problem+json. What we did not expect is logged whole and answered without a word of it. */
@Catch()
export class ErrorFilter implements ExceptionFilter {
  private readonly log = new Logger('Api');

  catch(error: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    const reply = http.getResponse<FastifyReply>();
    const problem = describe(error);
    if (problem.status >= 500 && problem.code === 'INTERNAL') this.log.error(error);

    if (problem.retryAfterMs !== undefined)
      reply.header('retry-after', Math.ceil(problem.retryAfterMs / 1_000));
    void reply.status(problem.status).type('application/problem+json').send({
      type: 'about:blank',
      title: STATUS_CODES[problem.status],
      status: problem.status,
      code: problem.code,
      detail: problem.detail,
      requestId: request.id,
    });
  }
}

function describe(error: unknown): Problem {
  if (error instanceof LifecycleError) {
    const { code, message } = error;
    const status = STATUS[code] ?? 500;
    if (status === 500) return UNEXPECTED;
    return {
      status,
      code,
      detail: message,
      ...(error instanceof StoreUnavailableError && { retryAfterMs: error.retryAfterMs }),
    };
  }
  if (error instanceof ApiProblem)
    return { status: error.getStatus(), code: error.code, detail: error.detail };

  const status = statusOf(error);
  const code = CODE[status];
  return code ? { status, code, detail: sentence(error) } : UNEXPECTED;
}

const UNEXPECTED: Problem = {
  status: 500,
  code: 'INTERNAL',
  detail: 'Something went wrong here. The log says what, under this requestId.',
};

function statusOf(error: unknown): number {
  if (error instanceof HttpException) return error.getStatus();
  // Fastify's own errors, of which the parser's are the caller's doing.
  const { statusCode } = error as { statusCode?: number };
  return statusCode ?? 500;
}

/** The validation pipe gives a list of what is wrong; everything else gives one sentence. */
function sentence(error: unknown): string {
  const body = error instanceof HttpException ? error.getResponse() : undefined;
  const message = typeof body === 'object' && 'message' in body ? body.message : (error as Error).message;
  return Array.isArray(message) ? message.join('; ') : String(message);
}
