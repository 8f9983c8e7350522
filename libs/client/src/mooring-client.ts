import { RAW_CALLS, type Calls, type Problem } from './api-types.js';
import { ProblemError, UnreachableError } from './errors.js';

const ANSWER_MS = 10_000;
const NOT_MODIFIED = 304;

export type CallName = keyof Calls;
/** What a call takes: `path`, `query`, `header` and `body`, those that it has. */
export type InputOf<Name extends CallName> = Calls[Name]['input'];
/** What a call answers: its JSON, null if there is none, and a `Response` to read for calls whose answer is not JSON. */
export type AnswerOf<Name extends CallName> = Calls[Name]['answer'];

export interface CallOptions {
  /** How long to wait for the answer: 10 s by default. It ends a stream, too. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

export interface ClientOptions {
  /** The address of the api, as in `http://localhost:3000`. */
  readonly url: string;
  readonly key?: string | undefined;
  /** Headers of every call. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** No input at all may be given if a call needs none. */
type Arguments<Input> =
  // oxlint-disable-next-line typescript/no-generated-empty-object-type -- it stands for no input
  Record<never, never> extends Input
    ? [input?: Input, options?: CallOptions]
    : [input: Input, options?: CallOptions];

type Value = string | number | boolean | null | undefined;

/** As the input is when its type is not looked at. */
interface AnyInput {
  readonly path?: Readonly<Record<string, Value>>;
  readonly query?: Readonly<Record<string, Value>>;
  readonly header?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** Calls the api. A call throws `ProblemError` for a refusal, and `UnreachableError` if there is no answer. */
export class MooringClient {
  private readonly url: string;

  constructor(private readonly options: ClientOptions) {
    this.url = options.url.replace(/\/+$/, '');
  }

  async call<Name extends CallName>(
    name: Name,
    ...[input = {}, options = {}]: Arguments<InputOf<Name>>
  ): Promise<AnswerOf<Name>> {
    const response = await this.fetch(name, input, options);
    const isRaw = (RAW_CALLS as readonly string[]).includes(name);
    if (isRaw && (response.ok || response.status === NOT_MODIFIED)) return response;
    const text = await this.reading(response.text(), options);
    const body = text === '' ? null : parse(text);
    // Something in front of the api may answer 200 with a page of its own.
    if (!response.ok || body === undefined) throw problemOf(name, response, body);
    return body as AnswerOf<Name>;
  }

  private fetch(
    name: string,
    { path, query, header, body }: AnyInput,
    options: CallOptions,
  ): Promise<Response> {
    const [method = '', template = ''] = name.split(' ');
    const { key, headers } = this.options;
    const request: RequestInit = {
      method,
      headers: {
        accept: 'application/json',
        ...(key !== undefined && { authorization: `Bearer ${key}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
        ...header,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: signalOf(options),
      // Following a redirect would turn a POST into a GET and could send the key to another host.
      redirect: 'manual',
    };
    return this.reading(fetch(`${this.url}${fill(template, path)}${search(query)}`, request), options);
  }

  private async reading<T>(answer: Promise<T>, { timeoutMs = ANSWER_MS, signal }: CallOptions): Promise<T> {
    try {
      return await answer;
    } catch (error) {
      if (signal?.aborted) throw error;
      throw new UnreachableError(this.url, reasonOf(error as Error, timeoutMs), { cause: error });
    }
  }
}

function signalOf({ timeoutMs = ANSWER_MS, signal }: CallOptions): AbortSignal {
  const timeout = AbortSignal.timeout(timeoutMs);
  return signal ? AbortSignal.any([signal, timeout]) : timeout;
}

function fill(template: string, values: Readonly<Record<string, Value>> = {}): string {
  return template.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = String(values[name] ?? '');
    // A URL without them is the URL of another call.
    if (['', '.', '..'].includes(value))
      throw new TypeError(`${template}: ${name} is "${value}", which a path cannot hold.`);
    return encodeURIComponent(value);
  });
}

function search(query: Readonly<Record<string, Value>> = {}): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null);
  const text = new URLSearchParams(
    given.map(([name, value]): [string, string] => [name, String(value)]),
  ).toString();
  return text && `?${text}`;
}

function problemOf(call: string, { status, headers }: Response, body: unknown): ProblemError {
  const seconds = Number(headers.get('retry-after') ?? Number.NaN);
  const retryAfterMs = Number.isFinite(seconds) ? seconds * 1_000 : undefined;
  return new ProblemError(call, status, isProblem(body) ? body : undefined, retryAfterMs);
}

function parse(text: string): unknown {
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

/** `fetch` has the reason for a failure only in `cause`. */
function reasonOf(error: Error, timeoutMs: number): string {
  if (error.name === 'TimeoutError') return `no response within ${timeoutMs / 1_000} s`;
  const cause = error.cause as (Error & { code?: string }) | undefined;
  return cause?.code ?? cause?.message ?? error.message;
}
