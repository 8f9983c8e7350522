import { HttpException } from '@nestjs/common';

export interface ProblemMore {
  readonly retryAfterMs?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Members of the problem that only this code has. */
  readonly members?: Readonly<Record<string, unknown>>;
}

/** An error of the HTTP layer, answered as problem details (RFC 9457). */
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
