import { EngineUnavailable, NoSuchImage } from '../container.engine.js';

const UNCHANGED = 304;
const WORDS = 200;

/** What an engine refused with, as dockerode tells it. */
export interface Refusal extends Error {
  readonly statusCode: number;
  /** The body as it came, or a sentence. */
  readonly json: unknown;
}

export function isRefusal(error: unknown): error is Refusal {
  return typeof (error as Partial<Refusal>).statusCode === 'number';
}

/** Does something within a time, for as long as the signal lets it; whatever else goes wrong is the engine's. */
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

/** The answer; nothing where there is no such container. */
export function orGone<T>(call: Promise<T>): Promise<T | undefined> {
  return orNothing(isGone, call);
}

/** The same, where a container that is as wanted already is a refusal, too. */
export async function done(call: Promise<unknown>): Promise<void> {
  await orNothing((error) => error.statusCode === UNCHANGED || isGone(error), call);
}

async function orNothing<T>(accepts: (error: Refusal) => boolean, call: Promise<T>): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    if (isRefusal(error) && accepts(error)) return undefined;
    throw error;
  }
}

/**
 * Said in words: whatever else answers at that address says 404 to everything, and then nothing is gone. Of one that is
 * removed in this moment, Podman says so with an error like any other.
 */
function isGone(error: Refusal): boolean {
  return [404, 500].includes(error.statusCode) && /no such container/i.test(wordsOf(error));
}

/** The engine's own: in its message, dockerode says of each 404 that there is no such container. */
export function wordsOf({ json }: Refusal): string {
  const { message } = (json ?? {}) as { message?: unknown };
  return typeof message === 'string' ? message : String(json).slice(0, WORDS);
}

/** Its words may be as long as an answer. */
function whyNot(error: unknown): string {
  if (isRefusal(error)) return `${wordsOf(error).slice(0, WORDS)} (${error.statusCode})`;
  return (error instanceof Error ? error.message.trim() : String(error)).slice(0, WORDS);
}
