import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { MooringClient, ProblemError, UnreachableError } from './index.js';

const PROBLEM = {
  type: 'about:blank',
  title: 'Too Many Requests',
  status: 429,
  code: 'QUEUE_FULL',
  detail: 'Queue "probe" has 5 jobs waiting, its limit.',
  requestId: 'r-1',
};

/** Against an HTTP server; `test/flows/openapi.flow.spec.ts` calls a real api. */
describe('MooringClient', () => {
  let server: Server;
  let url: string;
  let answer: (response: ServerResponse) => void;
  let seen: { method: string; path: string; headers: IncomingMessage['headers']; body: string };

  beforeAll(async () => {
    server = createServer((request, response) => {
      let body = '';
      request.on('data', (chunk: Buffer) => (body += chunk.toString()));
      request.on('end', () => {
        seen = { method: request.method!, path: request.url!, headers: request.headers, body };
        answer(response);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  beforeEach(() => {
    answer = (response) => response.end('{}');
  });

  const client = (): MooringClient => new MooringClient({ url: `${url}/`, key: 'secret' });
  const caught = (promise: Promise<unknown>): Promise<unknown> => promise.catch((error: unknown) => error);

  it('sends path, query, headers and body', async () => {
    await client().call('GET /v1/owners/{type}/{id}', { path: { type: 'trip', id: 'a/b ü?' } });
    expect(seen).toMatchObject({ method: 'GET', path: '/v1/owners/trip/a%2Fb%20%C3%BC%3F' });
    expect(seen.headers).toMatchObject({ authorization: 'Bearer secret', accept: 'application/json' });
    await client().call('GET /v1/jobs', { query: { error: 'a&b', limit: 5 } });
    expect(seen.path).toBe('/v1/jobs?error=a%26b&limit=5');
    const body = { kind: 'probe', owners: ['trip:42'] };
    await client().call('POST /v1/jobs', { body, header: { 'Idempotency-Key': 'k' } });
    expect(seen.headers).toMatchObject({ 'content-type': 'application/json', 'idempotency-key': 'k' });
    expect(JSON.parse(seen.body)).toEqual(body);
  });

  it.each(['', '.', '..'])('sends no call whose path would be that of another: %j', async (id) => {
    const error = await caught(client().call('GET /v1/jobs/{id}', { path: { id } }));
    expect(error).toBeInstanceOf(TypeError);
  });

  it('answers null if there is no body', async () => {
    answer = (response) => response.writeHead(204).end();
    expect(await client().call('DELETE /v1/schedules/{id}', { path: { id: 'x' } })).toBeNull();
  });

  it('answers a response to read if the answer is not JSON', async () => {
    answer = (response) => response.writeHead(200, { 'content-type': 'application/json' }).end('[1]');
    const path = { id: 'x', name: 'a.json' };
    const response = await client().call('GET /v1/jobs/{id}/artifacts/{name}', { path });
    expect(await response.text()).toBe('[1]');
    answer = (reply) => reply.writeHead(304).end();
    const header = { 'If-None-Match': '"a"' };
    const known = await client().call('GET /v1/jobs/{id}/artifacts/{name}', { path, header });
    expect(known.status).toBe(304);
  });

  it('throws the problem of a refusal', async () => {
    answer = (response) => response.writeHead(429, { 'retry-after': '2' }).end(JSON.stringify(PROBLEM));
    const error = await caught(client().call('GET /v1/kinds'));
    expect(error).toBeInstanceOf(ProblemError);
    expect(error).toMatchObject({
      status: 429,
      code: 'QUEUE_FULL',
      requestId: 'r-1',
      retryAfterMs: 2_000,
      message: PROBLEM.detail,
      problem: PROBLEM,
    });
  });

  it.each([
    ['an error page', 502, '<html>'],
    ['a page instead of an answer', 200, '<html>'],
    ['a redirect', 302, ''],
    ['JSON that is no problem', 500, '{"error":1}'],
  ])('says that %s is not from the api', async (_what, status, text) => {
    answer = (response) => response.writeHead(status, { location: '/elsewhere' }).end(text);
    const error = await caught(client().call('GET /v1/kinds'));
    expect(error).toMatchObject({ name: 'ProblemError', status, problem: undefined });
    expect((error as Error).message).toBe(`GET /v1/kinds: the answer is ${status}, and is not from the api.`);
  });

  it('says why there is no answer', async () => {
    answer = () => undefined;
    const slow = await caught(client().call('GET /v1/kinds', {}, { timeoutMs: 50 }));
    expect(slow).toBeInstanceOf(UnreachableError);
    expect(slow).toMatchObject({ why: 'no response within 0.05 s' });
    answer = (response) => {
      response.writeHead(200, { 'content-length': '10' });
      response.write('{', () => response.destroy());
    };
    expect(await caught(client().call('GET /v1/kinds'))).toBeInstanceOf(UnreachableError);
    const absent = new MooringClient({ url: 'http://127.0.0.1:1' });
    expect(await caught(absent.call('GET /v1/kinds'))).toMatchObject({ name: 'UnreachableError' });
  });

  it("ends with its caller's signal", async () => {
    answer = () => undefined;
    const gone = new AbortController();
    const call = caught(client().call('GET /v1/kinds', {}, { signal: gone.signal }));
    gone.abort();
    expect(await call).toMatchObject({ name: 'AbortError' });
  });
});
