import { Refused, Unreachable, WrongUsage, type Problem } from './problems.js';

const ANSWER_MS = 10_000;

export interface CallOptions {
  readonly body?: unknown;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly withinMs?: number;
}

/** The path of a call, as in pathTo`/v1/jobs/${id}`. */
export function pathTo(parts: TemplateStringsArray, ...ids: readonly string[]): string {
  return String.raw({ raw: parts }, ...ids.map(segmentOf));
}

/** URLs resolve `.` and `..` even when encoded, so the call would reach another resource. */
function segmentOf(id: string): string {
  if (id === '.' || id === '..') throw new WrongUsage(`The id "${id}" cannot be part of a URL.`);
  return encodeURIComponent(id);
}

/** HTTP client for the API. Throws `Refused` for an error answer and `Unreachable` if there is none. */
export class Api {
  constructor(
    readonly url: string,
    private readonly key: string | undefined,
    private readonly version: string,
  ) {}

  get<T>(path: string, query: Readonly<Record<string, string>> = {}, withinMs = ANSWER_MS): Promise<T> {
    return this.call<T>('GET', path, { query, withinMs });
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
    if (response.ok && (body !== undefined || response.status === 204)) return body as T;
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
        // Following a redirect would turn a POST into a GET and could send the key to another host.
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

/** `fetch` reports the reason for a failure only in `cause`. */
function reason(error: Error, withinMs: number): string {
  if (error.name === 'TimeoutError') return `no response within ${withinMs / 1_000} s`;
  const cause = error.cause as (Error & { code?: string }) | undefined;
  return cause?.code ?? cause?.message ?? error.message;
}
