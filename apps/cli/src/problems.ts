/** What was typed makes no sense; the message says what to type. */
export class WrongUsage extends Error {
  override readonly name = 'WrongUsage';

  constructor(
    message: string,
    /** Whose help to point to; it is known once the command is. */
    readonly command?: string,
  ) {
    super(message);
  }
}

/** The api answered no. */
export class Refused extends Error {
  override readonly name = 'Refused';

  constructor(
    readonly status: number,
    /** As RFC 9457 has it, when it is a Mooring api that answered. */
    readonly problem: Problem | undefined,
    readonly retryAfter: string | undefined,
    url: string,
  ) {
    super(problem?.detail ?? `${url} answered ${status}, and not as a Mooring api does. Is the url right?`);
  }
}

export interface Problem {
  readonly status: number;
  readonly code: string;
  readonly detail: string;
  readonly requestId?: string;
}

/** No answer came. What was asked may have been done nevertheless. */
export class Unreachable extends Error {
  override readonly name = 'Unreachable';

  constructor(url: string, why: string, cause?: unknown) {
    super(
      `No answer from the api at ${url} (${why}).\nIs it running? Another address is set with --url or MOORING_URL.`,
      { cause },
    );
  }
}

/** A refusal that may be gone a moment later. */
export function isPassing(error: unknown): boolean {
  return (
    error instanceof Unreachable || (error instanceof Refused && [429, 502, 503, 504].includes(error.status))
  );
}

/** It cannot be told whether what was asked has been done. */
export function isInDoubt(error: unknown): boolean {
  return error instanceof Unreachable || (error instanceof Refused && error.status >= 500);
}

export function noWords(words: readonly string[]): void {
  if (words.length > 0) throw new WrongUsage(`It takes no words; "${words.join(' ')}" is too much.`);
}
