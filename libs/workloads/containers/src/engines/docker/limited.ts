import { EngineUnavailable, NoSuchImage } from '../container.engine.js';

/** What an engine refused with, as dockerode tells it. */
export interface Refusal extends Error {
  readonly statusCode: number;
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
    const said = cause instanceof Error ? cause.message.trim() : String(cause);
    throw new EngineUnavailable(`The engine did not ${what}: ${said}`, { cause });
  }
}

/** The answer, or nothing where the engine refuses with one of these. */
export async function unless<T>(statuses: readonly number[], call: Promise<T>): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    if (isRefusal(error) && statuses.includes(error.statusCode)) return undefined;
    throw error;
  }
}
