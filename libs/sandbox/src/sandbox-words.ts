export const LOG_LEVELS = ['log', 'error', 'warn', 'debug', 'verbose', 'fatal'] as const;
type LogLevel = (typeof LOG_LEVELS)[number];

/** What a handler in a sandbox is given beside its payload and the facts of its run. */
export interface SandboxTools {
  /** Aborts when the run has to stop; its `reason` is `cancelled`, `lost`, `timeout` or `shutdown`. */
  readonly signal: AbortSignal;
  readonly log: Readonly<Record<LogLevel, (message: unknown, ...more: unknown[]) => void>>;
  /** It never fails. */
  progress(value: number | string | object): Promise<void>;
}

export interface ErrorText {
  readonly name: string;
  readonly message: string;
  readonly stack?: string | undefined;
}

// A handler may send messages of its own: ours have the member `mooring`.

export type WordToSandbox =
  | { readonly mooring: 'begin'; readonly payload: unknown; readonly run: object }
  | { readonly mooring: 'stop'; readonly reason: unknown };

/** The last one is one of the two answers. Values are JSON, as they will be stored. */
export type WordOfSandbox =
  | { readonly mooring: 'progress'; readonly value: string }
  | { readonly mooring: 'log'; readonly level: LogLevel; readonly said: readonly unknown[] }
  | Answer;

export type Answer =
  | { readonly mooring: 'done'; readonly result?: string | undefined }
  | { readonly mooring: 'failed'; readonly error: ErrorText; readonly isFinal: boolean };

/** A message of the sandbox, or nothing: the code of a handler may send anything. */
export function readWord(said: unknown): WordOfSandbox | undefined {
  const word = said as Partial<Record<string, unknown>> | null;
  const isRight = {
    progress: () => isJson(word!['value']),
    log: () => LOG_LEVELS.includes(word!['level'] as LogLevel) && Array.isArray(word!['said']),
    done: () => word!['result'] === undefined || isJson(word!['result']),
    failed: () => typeof word!['error'] === 'object' && word!['error'] !== null,
  }[String(word?.['mooring'])];
  return isRight?.() ? (said as WordOfSandbox) : undefined;
}

function isJson(text: unknown): boolean {
  try {
    return typeof text === 'string' && JSON.parse(text) !== undefined;
  } catch {
    return false;
  }
}
