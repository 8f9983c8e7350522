import { HttpException } from '@nestjs/common';

/** What a refusal says beside its sentence. */
export interface ProblemMore {
  readonly retryAfterMs?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Members of the problem that only this code has. */
  readonly members?: Readonly<Record<string, unknown>>;
}

/** A refusal that only HTTP knows, in the form of RFC 9457. */
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
