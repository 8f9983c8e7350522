import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import { pipeline, type Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { queryText, sign, SHA256_OF_NOTHING, type Signer } from './sigv4.js';

export interface S3Address extends Signer {
  readonly host: string;
  readonly port: number;
  readonly isEncrypted: boolean;
  readonly bucket: string;
}

export interface S3Call {
  readonly method: 'GET' | 'PUT' | 'DELETE';
  /** Object key; '' for the bucket. Contains no characters that need escaping. */
  readonly key: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: { readonly size: number; readonly sha256: string; readonly read: () => Readable };
}

export class S3Error extends Error {
  constructor(
    readonly status: number,
    what: string,
    said: string,
  ) {
    const [, code = ''] = /<Code>([^<]{1,80})<\/Code>/.exec(said) ?? [];
    super(`The object store answered ${what} with ${status}${code && ` (${code})`}.`);
    this.name = 'S3Error';
  }
}

const TRIES = 3;
const RETRY_MS = 100;
const TIMEOUT_MS = 10_000;

/** Client for one bucket. Retries transient errors, so every call may be executed twice. */
export class S3Client {
  private readonly agent: http.Agent;

  constructor(private readonly address: S3Address) {
    const { Agent } = address.isEncrypted ? https : http;
    this.agent = new Agent({ keepAlive: true });
  }

  /** Returns the answer with its body unread. Throws for a status that is not in `expected`. */
  async call(call: S3Call, expected: readonly number[]): Promise<IncomingMessage> {
    for (let tries = 1; ; tries += 1) {
      try {
        const answer = await this.send(call);
        if (expected.includes(answer.statusCode!)) return answer;
        const what = `${call.method} ${call.key || 'of a list'}`;
        throw new S3Error(answer.statusCode!, what, await text(answer));
      } catch (error) {
        if (tries === TRIES || !isTransient(error)) throw error;
        await pause(RETRY_MS * 2 ** tries * Math.random());
      }
    }
  }

  private send({ method, key, query = {}, headers = {}, body }: S3Call): Promise<IncomingMessage> {
    const { host, port, isEncrypted, bucket } = this.address;
    const path = `/${bucket}${key && `/${key}`}`;
    const isUsual = port === (isEncrypted ? 443 : 80);
    const signed = sign(
      {
        method,
        path,
        query,
        headers: { ...headers, host: isUsual ? host : `${host}:${port}` },
        payloadSha256: body?.sha256 ?? SHA256_OF_NOTHING,
      },
      this.address,
      new Date(),
    );
    const search = queryText(query);
    return new Promise((resolve, reject) => {
      const outgoing = (isEncrypted ? https : http).request({
        host: host.replaceAll(/^\[|\]$/g, ''),
        port,
        method,
        agent: this.agent,
        path: search ? `${path}?${search}` : path,
        headers: { ...signed, ...(method === 'PUT' && { 'content-length': body?.size ?? 0 }) },
      });
      outgoing.setTimeout(TIMEOUT_MS, () => outgoing.destroy(new Error('The object store did not respond.')));
      outgoing.once('response', resolve).once('error', reject);
      if (!body) outgoing.end();
      // If one of the two fails, pipeline destroys the other, and the request emits the error.
      else pipeline(body.read(), outgoing, () => undefined);
    });
  }
}

function isTransient(error: unknown): boolean {
  return !(error instanceof S3Error) || error.status >= 500 || error.status === 429;
}
