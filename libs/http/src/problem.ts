import { HttpException } from '@nestjs/common';

/** A refusal that only HTTP knows, in the form of RFC 9457. */
export class ApiProblem extends HttpException {
  constructor(
    status: number,
    readonly code: string,
    readonly detail: string,
  ) {
    super(detail, status);
  }
}
