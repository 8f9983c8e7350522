import { Catch, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { describeError } from './problem.js';
import type { CalledRequest } from './scopes.js';

/** Answers every error as problem+json. */
@Catch()
export class ProblemFilter implements ExceptionFilter {
  constructor(private readonly adapterHost: HttpAdapterHost) {}

  catch(error: unknown, host: ArgumentsHost): void {
    const { httpAdapter: adapter } = this.adapterHost;
    const http = host.switchToHttp();
    const response = http.getResponse<object>();
    if (adapter.isHeadersSent(response)) return;
    const { problem, retryAfter, headers } = describeError(error, http.getRequest<CalledRequest>());
    const retry = retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) };
    const all = { ...headers, ...retry, 'content-type': 'application/problem+json' };
    for (const [name, value] of Object.entries(all)) adapter.setHeader(response, name, value);
    adapter.reply(response, JSON.stringify(problem), problem.status);
  }
}
