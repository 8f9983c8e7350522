import { EngineUnavailable, NoSuchImage } from '../container-engine.js';

/** The container is in the wanted state already. */
export const UNCHANGED = 304;
const WORDS = 200;

/** An error response, as dockerode reports it. */
export interface Refusal extends Error {
  readonly statusCode: number;
  /** The body as received, or a sentence. */
  readonly json: unknown;
}

export function isRefusal(error: unknown): error is Refusal {
  return typeof (error as Partial<Refusal>).statusCode === 'number';
}

/** Runs a call with a time limit and a signal. Any other failure becomes an engine error. */
export async function limited<T>(
  what: string,
  limitMs: number,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  signal.throwIfAborted();
  const limit = AbortSignal.timeout(limitMs);
  try {
    return await work(AbortSignal.any([signal, limit]));
  } catch (cause) {
    signal.throwIfAborted();
    if (cause instanceof NoSuchImage || cause instanceof EngineUnavailable) throw cause;
    if (limit.aborted)
      throw new EngineUnavailable(`The engine did not ${what} within ${limitMs} ms.`, { cause });
    throw new EngineUnavailable(`The engine did not ${what}: ${whyNot(cause)}`, { cause });
  }
}

/** The result; undefined if the container does not exist, or the engine refuses with that status. */
export async function orGone<T>(call: Promise<T>, status?: typeof UNCHANGED): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    if (isRefusal(error) && (error.statusCode === status || isGone(error))) return undefined;
    throw error;
  }
}

/**
 * Requires the engine's own message, because any other server at that address answers 404 to everything and
 * nothing is gone. Podman reports a removal in progress as a generic error.
 */
function isGone(error: Refusal): boolean {
  return [404, 500].includes(error.statusCode) && /no such container/i.test(wordsOf(error));
}

/** The engine's own message. dockerode's says "no such container" for every 404. */
export function wordsOf({ json }: Refusal): string {
  const { message } = (json ?? {}) as { message?: unknown };
  return typeof message === 'string' ? message : String(json).slice(0, WORDS);
}

/** Shortened, because an engine's message may be as long as a response. */
function whyNot(error: unknown): string {
  if (isRefusal(error)) return `${wordsOf(error).slice(0, WORDS)} (${error.statusCode})`;
  return (error instanceof Error ? error.message.trim() : String(error)).slice(0, WORDS);
}
