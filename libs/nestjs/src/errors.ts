import { MooringError } from '#core';

/** No kind of that name is registered in this process. Nothing was written. */
export class UnknownKindError extends MooringError {
  readonly code = 'UNKNOWN_KIND';

  constructor(
    readonly kind: string,
    near?: string,
  ) {
    const next =
      near === undefined ? 'Register it with MooringModule.forKinds([…]).' : `Did you mean ${near}?`;
    super(`No kind is named ${JSON.stringify(kind.slice(0, 80))}. ${next}`);
  }
}

/** The payload is larger than a job of its kind may carry. Nothing was written. */
export class TooLargeError extends MooringError {
  readonly code = 'TOO_LARGE';

  constructor(
    readonly bytes: number,
    readonly limit: number,
  ) {
    super(`The payload has ${bytes} bytes, the limit is ${limit}. Store it elsewhere and pass a reference.`);
  }
}
