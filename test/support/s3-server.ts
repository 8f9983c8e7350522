import { createHash, createHmac } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

export const S3_KEY = 'AKIATEST';
export const S3_SECRET = 'secret/with+signs';
const REGION = 'eu-test-1';

type Trouble = 'error' | 'cut' | 'cut-after-store';

/**
 * An object store for one test: refuses unsigned and wrongly signed requests, lists by pages, and fails when told to.
 */
export class S3Server {
  readonly objects = new Map<string, Buffer>();
  readonly calls: string[] = [];
  /** The fault of the next calls, and of which method. */
  readonly troubles: { method: string; trouble: Trouble }[] = [];
  pageSize = 1_000;

  private constructor(private readonly server: Server) {}

  static async start(): Promise<S3Server> {
    const server = createServer();
    const s3 = new S3Server(server);
    server.on('request', (request, response) => void s3.answer(request, response));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return s3;
  }

  get url(): string {
    const { port } = this.server.address() as AddressInfo;
    return `s3://${S3_KEY}:${encodeURIComponent(S3_SECRET)}@127.0.0.1:${port}/bucket?region=${REGION}&tls=off`;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(request).catch(() => undefined);
    if (!body) return;
    const url = new URL(request.url!, 'http://here');
    this.calls.push(`${request.method} ${url.pathname}`);
    const at = this.troubles.findIndex(({ method }) => method === request.method);
    const [trouble] = at < 0 ? [] : this.troubles.splice(at, 1);
    if (trouble?.trouble === 'cut') return void request.socket.destroy();
    if (trouble?.trouble === 'error') return refuse(response, 503, 'SlowDown');
    const wrong = wrongWith(request, url, body);
    if (wrong) return refuse(response, 403, wrong);
    if (!url.pathname.startsWith('/bucket')) return refuse(response, 404, 'NoSuchBucket');
    const key = url.pathname.slice('/bucket/'.length);
    if (request.method === 'GET' && key === '') return this.list(url, response);
    if (request.method === 'PUT') this.objects.set(key, body);
    if (trouble) return void request.socket.destroy();
    if (request.method === 'DELETE') {
      this.objects.delete(key);
      return void response.writeHead(204).end();
    }
    if (request.method === 'PUT') return void response.writeHead(200).end();
    this.read(key, request.headers.range, response);
  }

  private read(key: string, range: string | undefined, response: ServerResponse): void {
    const object = this.objects.get(key);
    if (!object) return refuse(response, 404, 'NoSuchKey');
    const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(range ?? '') ?? [];
    if (first === undefined)
      return void response.writeHead(200, { 'content-length': object.length }).end(object);
    if (Number(first) >= object.length) return refuse(response, 416, 'InvalidRange');
    const part = object.subarray(Number(first), Number(last) + 1);
    const sent = `bytes ${first}-${Number(first) + part.length - 1}/${object.length}`;
    response.writeHead(206, { 'content-range': sent }).end(part);
  }

  private list(url: URL, response: ServerResponse): void {
    const asked = (name: string): string => url.searchParams.get(name) ?? '';
    const [prefix, delimiter, after] = [asked('prefix'), asked('delimiter'), asked('start-after')];
    const most = Math.min(Number(asked('max-keys') || 1_000), this.pageSize);
    const lines: string[] = [];
    let isCut = false;
    for (const key of [...this.objects.keys()].toSorted(byBytes)) {
      if (!key.startsWith(prefix) || byBytes(key, after) <= 0) continue;
      const end = delimiter ? key.indexOf(delimiter, prefix.length) : -1;
      const line =
        end < 0
          ? `<Contents><Key>${key}</Key></Contents>`
          : `<CommonPrefixes><Prefix>${key.slice(0, end + 1)}</Prefix></CommonPrefixes>`;
      if (lines.at(-1) === line) continue;
      if (lines.length === most) isCut = true;
      else lines.push(line);
    }
    const words = `<Name>bucket</Name><Prefix>${prefix}</Prefix><IsTruncated>${isCut}</IsTruncated>`;
    const xml = `<ListBucketResult>${words}${lines.join('')}</ListBucketResult>`;
    response.writeHead(200, { 'content-type': 'application/xml' }).end(xml);
  }
}

function byBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

function refuse(response: ServerResponse, status: number, code: string): void {
  response.writeHead(status).end(`<?xml version="1.0"?><Error><Code>${code}</Code></Error>`);
}

/** Checked as a server does it: from the received request, not from the intended one. */
function wrongWith(request: IncomingMessage, url: URL, body: Buffer): string | undefined {
  const { headers } = request;
  const form =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, SignedHeaders=([^,]+), Signature=(\w{64})$/;
  const [, key, day, region, names, signature] = form.exec(headers.authorization ?? '') ?? [];
  if (!key || !day || !region || !names || !signature) return 'AccessDenied';
  if (key !== S3_KEY || region !== REGION) return 'InvalidAccessKeyId';
  const time = String(headers['x-amz-date']);
  if (!time.startsWith(day)) return 'AuthorizationHeaderMalformed';
  const sent = String(headers['x-amz-content-sha256']);
  if (sent !== createHash('sha256').update(body).digest('hex')) return 'XAmzContentSHA256Mismatch';
  for (const needed of ['host', 'x-amz-date', 'x-amz-content-sha256'])
    if (!names.split(';').includes(needed)) return 'AccessDenied';
  const pairs = [...url.searchParams].map(([name, value]) => `${strict(name)}=${strict(value)}`).toSorted();
  const lines = names.split(';').map((name) => `${name}:${String(headers[name]).trim()}\n`);
  const canonical = `${request.method}\n${url.pathname}\n${pairs.join('&')}\n${lines.join('')}\n${names}\n${sent}`;
  const digest = createHash('sha256').update(canonical).digest('hex');
  const text = `AWS4-HMAC-SHA256\n${time}\n${day}/${region}/s3/aws4_request\n${digest}`;
  const keyed = (secret: string | Buffer, what: string): Buffer =>
    createHmac('sha256', secret).update(what).digest();
  const signing = keyed(keyed(keyed(keyed(`AWS4${S3_SECRET}`, day), region), 's3'), 'aws4_request');
  return keyed(signing, text).toString('hex') === signature ? undefined : 'SignatureDoesNotMatch';
}

function strict(text: string): string {
  return encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
