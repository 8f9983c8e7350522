import { Refused, Unreachable, type Problem } from './problems.js';

const ANSWER_MS = 10_000;

export interface CallOptions {
  readonly body?: unknown;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** How long its answer may take. */
  readonly withinMs?: number;
}

/** The api, by HTTP. Whatever is not a yes is thrown: `Refused`, or `Unreachable`. */
export class Api {
  constructor(
    readonly url: string,
    private readonly key: string | undefined,
    private readonly version: string,
  ) {}

  get<T>(path: string, query: Readonly<Record<string, string>> = {}): Promise<T> {
    return this.call<T>('GET', path, { query });
  }

  post<T>(path: string, options: CallOptions = {}): Promise<T> {
    return this.call<T>('POST', path, options);
  }

  put<T>(path: string, options: CallOptions = {}): Promise<T> {
    return this.call<T>('PUT', path, options);
  }

  delete<T>(path: string, options: CallOptions = {}): Promise<T> {
    return this.call<T>('DELETE', path, options);
  }

  private async call<T>(method: string, path: string, options: CallOptions): Promise<T> {
    const { response, text } = await this.fetch(method, path, options);
    const body = parseJson(text);
    if (response.ok && body !== undefined) return body as T;
    throw new Refused(
      response.status,
      isProblem(body) ? body : undefined,
      response.headers.get('retry-after') ?? undefined,
      this.url,
    );
  }

  private async fetch(
    method: string,
    path: string,
    { body, query = {}, headers = {}, withinMs = ANSWER_MS }: CallOptions,
  ): Promise<{ response: Response; text: string }> {
    const search = new URLSearchParams(query).toString();
    try {
      const response = await fetch(`${this.url}${path}${search && `?${search}`}`, {
        method,
        headers: {
          accept: 'application/json',
          'user-agent': `mooring-cli/${this.version}`,
          ...(this.key && { authorization: `Bearer ${this.key}` }),
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(withinMs),
        // Followed, a POST would become a GET, and the key might go to somebody else.
        redirect: 'manual',
      });
      return { response, text: await response.text() };
    } catch (error) {
      throw new Unreachable(this.url, reason(error as Error, withinMs), error);
    }
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isProblem(body: unknown): body is Problem {
  const { code, detail } = (body ?? {}) as Partial<Problem>;
  return typeof code === 'string' && typeof detail === 'string';
}

/** Fetch itself says only that it failed; why is in its cause. */
function reason(error: Error, withinMs: number): string {
  if (error.name === 'TimeoutError') return `nothing within ${withinMs / 1_000} s`;
  const cause = error.cause as (Error & { code?: string }) | undefined;
  return cause?.code ?? cause?.message ?? error.message;
}
