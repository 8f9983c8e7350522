import http, { type IncomingMessage, type RequestOptions } from 'node:http';
import https from 'node:https';
import type { LookupFunction } from 'node:net';
import { RefusedAddressError } from './pinned-lookup.js';
import type { ServiceUrl } from './service-url.js';

/** Ids of the largest batch, each character escaped, fit in. */
const MAX_ANSWER_BYTES = 2 * 1024 * 1024;
const UTF8 = new TextDecoder('utf-8', { fatal: true });

/** The service was not reached, or had a failure of its own: the same call may succeed a moment later. */
export class ServiceFailedError extends Error {}

/** Posts JSON to one address and reads JSON back. Follows nothing, unpacks nothing, believes no length. */
export class ServiceCall {
  private readonly http: typeof http | typeof https;
  private readonly agent: http.Agent;

  constructor(
    private readonly service: ServiceUrl,
    private readonly lookup: LookupFunction,
    private readonly headers: Readonly<Record<string, string>>,
  ) {
    this.http = service.url.protocol === 'https:' ? https : http;
    this.agent = new this.http.Agent({ keepAlive: true, maxSockets: 4 });
  }

  /** The time is the caller's to limit, with the signal. */
  async post(body: unknown, signal: AbortSignal): Promise<unknown> {
    const response = await this.send(Buffer.from(JSON.stringify(body)), signal);
    try {
      checkHead(response);
      return parse(await readBody(response, signal));
    } finally {
      // What was not read to its end must not be, and its connection is not used again.
      if (!response.readableEnded) response.destroy();
    }
  }

  close(): void {
    this.agent.destroy();
  }

  private async send(body: Buffer, signal: AbortSignal): Promise<IncomingMessage> {
    const options: RequestOptions = {
      method: 'POST',
      agent: this.agent,
      lookup: this.lookup,
      signal,
      headers: {
        'content-type': 'application/json',
        'content-length': body.length,
        accept: 'application/json',
        'accept-encoding': 'identity',
        ...this.headers,
      },
    };
    return new Promise((resolve, reject) => {
      const request = this.http.request(this.service.url, options, resolve);
      request.on('error', (error) => reject(failure(error, signal)));
      request.end(body);
    });
  }
}

function checkHead({ statusCode = 0, headers }: IncomingMessage): void {
  if (statusCode >= 500) throw new ServiceFailedError(`The service answered with status ${statusCode}.`);
  if (statusCode !== 200) throw new Error(`The service answered with status ${statusCode}.`);
  const type = headers['content-type']?.split(';')[0]?.trim().toLowerCase();
  if (type !== 'application/json')
    throw new Error(`The service answered with ${JSON.stringify(type ?? 'no content type')}, not JSON.`);
  if (headers['content-encoding'] && headers['content-encoding'] !== 'identity')
    throw new Error('The service answered packed, which was not asked for.');
}

async function readBody(response: IncomingMessage, signal: AbortSignal): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > MAX_ANSWER_BYTES) break;
      chunks.push(chunk);
    }
  } catch (error) {
    if (signal.aborted) throw new Error('The service did not answer to the end in time.', { cause: error });
    throw new ServiceFailedError('The answer broke off.', { cause: error });
  }
  if (bytes > MAX_ANSWER_BYTES) throw new Error(`The answer has more than ${MAX_ANSWER_BYTES} bytes.`);
  return Buffer.concat(chunks);
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(UTF8.decode(body));
  } catch {
    // Its words may be anything, also secrets of the service: they are not repeated.
    throw new Error('The answer is not JSON.');
  }
}

function failure(error: NodeJS.ErrnoException, signal: AbortSignal): Error {
  if (signal.aborted) return new Error('The service did not answer in time.', { cause: error });
  if (error instanceof RefusedAddressError) return error;
  return new ServiceFailedError(`The service cannot be reached (${error.code ?? error.message}).`, {
    cause: error,
  });
}
