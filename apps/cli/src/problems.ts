import { nearestName } from '#nearest-name';

/** The command line is wrong. The message says what to type instead. */
export class WrongUsage extends Error {
  override readonly name = 'WrongUsage';

  constructor(
    message: string,
    /** Command whose help is suggested. Undefined until the command is known. */
    readonly command?: string,
  ) {
    super(message);
  }
}

/** The API answered with an error. */
export class Refused extends Error {
  override readonly name = 'Refused';

  constructor(
    readonly status: number,
    /** Problem details (RFC 9457). Undefined if something other than a Mooring API answered. */
    readonly problem: Problem | undefined,
    readonly retryAfter: string | undefined,
    url: string,
  ) {
    super(problem?.detail ?? `${url} answered ${status}, but not like a Mooring API. Is the URL right?`);
  }
}

export interface Problem {
  readonly code: string;
  readonly detail: string;
  readonly requestId?: string;
}

/** The API gave no answer. It may have carried out the request nevertheless. */
export class Unreachable extends Error {
  override readonly name = 'Unreachable';

  constructor(url: string, why: string, cause?: unknown) {
    super(
      `No answer from the API at ${url} (${why}).\nIs it running? Set another address with --url or MOORING_URL.`,
      { cause },
    );
  }
}

/** Whether a later attempt may succeed. */
export function isTransient(error: unknown): boolean {
  return (
    error instanceof Unreachable || (error instanceof Refused && [429, 502, 503, 504].includes(error.status))
  );
}

/** Whether the API may have carried out the request nevertheless. */
export function isOutcomeUnknown(error: unknown): boolean {
  return error instanceof Unreachable || (error instanceof Refused && error.status >= 500);
}

/** Ends a sentence about a wrong word with the nearest right one. */
export function didYouMean(word: string, known: readonly string[]): string {
  const near = nearestName(word, known, 3);
  return near ? ` Did you mean ${near}?` : '';
}
