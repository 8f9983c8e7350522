import { execFileSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { apiKey } from '../support/api-keys.js';
import { Fleet } from '../support/fleet.js';
import { openFilesOf } from '../support/open-files.js';
import { problemIn, RawClient } from '../support/raw-client.js';
import { until } from '../support/until.js';

const aProbe = { kind: 'probe', owners: ['trip:42'], payload: {} };
const bearer = { authorization: 'Bearer reader' };
const API_KEYS = apiKey('reader', 'read');
const PROBLEM = 'application/problem+json';

/** The head of a request that announces a body and sends none of it. */
const beginning = (target: string, host = '127.0.0.1'): string =>
  `POST ${target} HTTP/1.1\r\nhost: ${host}\r\ncontent-type: application/json\r\ncontent-length: 1000000\r\n\r\n`;

async function untilAnswered(client: RawClient): Promise<string> {
  await until(() => client.received.includes('\r\n\r\n{'), 'it is answered', 5_000);
  client.close();
  return client.received;
}

describe('the api with keys', () => {
  let fleet: Fleet;
  beforeAll(async () => (fleet = await Fleet.start({ workers: 0, env: { API_KEYS, PROBE: 'on' } })));
  afterAll(() => fleet.stop());

  it.each([
    ['/v1/jobs/batch'],
    ['/%76%31/jobs/batch'],
    ['/v1/jobs%2Fbatch'],
    ['http://127.0.0.1/v1/jobs/batch'],
    ['/graphviz/svg'],
    ['/%67raphviz/svg'],
    ['/livez'],
    ['/nothing/here'],
  ])('refuses an unauthenticated POST to %s before its body arrives', async (target) => {
    const client = await RawClient.connect(fleet.url);
    client.write(beginning(target));
    expect(problemIn(await untilAnswered(client))).toEqual({
      status: 401,
      type: PROBLEM,
      code: 'UNAUTHORIZED',
    });
  });

  it.each(['/docs', '/docs/', '/docs/swagger-ui.css', '/openapi.json', '/openapi.yaml', '/%64ocs'])(
    'shows %s only to a key that may read',
    async (path) => {
      expect((await fetch(`${fleet.url}${path}`)).status).toBe(401);
      expect((await fetch(`${fleet.url}${path}`, { headers: bearer })).status).toBe(200);
    },
  );

  it('answers 404 for an unknown path before the body arrives', async () => {
    const client = await RawClient.connect(fleet.url);
    client.write(beginning('/nothing/here').replace('\r\n\r\n', '\r\nauthorization: Bearer reader\r\n\r\n'));
    expect(problemIn(await untilAnswered(client))).toEqual({ status: 404, type: PROBLEM, code: 'NOT_FOUND' });
  });

  it('refuses two hosts, no host, and a target that names another host', async () => {
    const close = 'connection: close\r\n\r\n';
    const ask = (text: string): Promise<string> => RawClient.ask(fleet.url, `${text}${close}`);
    for (const text of [
      'GET /livez HTTP/1.1\r\nhost: a\r\nhost: b\r\n',
      'GET /livez HTTP/1.1\r\nhost: a\r\nHost: a\r\n',
      'GET /livez HTTP/1.1\r\n',
      'GET http://b/livez HTTP/1.1\r\nhost: a\r\n',
      'GET http://a@b/livez HTTP/1.1\r\nhost: a\r\n',
    ]) {
      expect([text, problemIn(await ask(text))]).toEqual([
        text,
        { status: 400, type: PROBLEM, code: 'INVALID' },
      ]);
    }
    expect(await ask('GET http://a/livez?x HTTP/1.1\r\nhost: a\r\n')).toContain('HTTP/1.1 200');
  });

  it('keeps no file open for readers that requested its pages many times and disconnected', async () => {
    const files = async (): Promise<string[]> =>
      (await openFilesOf(fleet.api.pid)).filter((name) => name.startsWith('/') && !name.startsWith('/dev/'));
    const before = await files();
    const asks = ['swagger-ui-bundle.js', 'swagger-ui.css'].map(
      (name) => `GET /docs/${name} HTTP/1.1\r\nhost: a\r\nauthorization: Bearer reader\r\n\r\n`,
    );
    for (let i = 0; i < 50; i += 1) {
      const client = await RawClient.connect(fleet.url);
      client.stopReading();
      client.write(asks.join('').repeat(3));
      client.close();
    }
    const whole = await fetch(`${fleet.url}/docs/swagger-ui-bundle.js`, { headers: bearer });
    expect((await whole.arrayBuffer()).byteLength).toBeGreaterThan(1_000_000);
    await until(async () => (await files()).length <= before.length, 'no more files are open than before');
  });

  it('shows its page even while the process cannot open another file', async () => {
    const client = await RawClient.connect(fleet.url);
    const limit = (most: string): unknown =>
      execFileSync('prlimit', ['--pid', String(fleet.api.pid), `--nofile=${most}:`]);
    limit('1');
    try {
      for (const name of ['index.css', 'favicon-32x32.png'])
        client.write(`GET /docs/${name} HTTP/1.1\r\nhost: a\r\nauthorization: Bearer reader\r\n\r\n`);
      await until(() => client.received.split('HTTP/1.1 200').length === 3, 'both are answered', 5_000);
    } finally {
      limit('1024');
      client.close();
    }
  });
});

describe('the api without keys', () => {
  let fleet: Fleet;
  beforeAll(async () => (fleet = await Fleet.start({ workers: 0 })));
  afterAll(() => fleet.stop());

  const from = (headers: Record<string, string>): Record<string, string> => headers;

  it.each<[string, string]>([
    ['POST', '/v1/admin/queues/probe/pause'],
    ['POST', '/v1/owners/trip/1/cancel'],
    ['POST', '/v1/owners/trip/1/reopen'],
    ['POST', '/v1/admin/sweeps/expiry'],
    ['POST', '/v1/jobs'],
    ['DELETE', '/v1/jobs/probe-1'],
    ['POST', '/v1/sites'],
  ])('refuses %s %s from a page of another site', async (method, path) => {
    for (const headers of [
      { origin: 'http://evil.example' },
      { origin: 'null' },
      { origin: fleet.url.replace(/\d+$/, '1') },
      { origin: fleet.url.replace('http:', 'https:') },
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site', origin: fleet.url },
    ]) {
      const answer = await fleet.request(method, path, undefined, from(headers));
      expect({ headers, status: answer.status, code: answer.body['code'] }).toEqual({
        headers,
        status: 403,
        code: 'CROSS_SITE',
      });
    }
  });

  it('answers its own pages, programs, and reads from any origin', async () => {
    for (const headers of [
      {},
      { origin: fleet.url },
      { origin: fleet.url, 'sec-fetch-site': 'same-origin' },
      { 'sec-fetch-site': 'none' },
    ]) {
      expect((await fleet.request('POST', '/v1/jobs', aProbe, from(headers))).status).toBe(201);
    }
    const read = await fleet.request('GET', '/v1/admin/queues', undefined, {
      origin: 'http://evil.example',
      'sec-fetch-site': 'cross-site',
    });
    expect(read.status).toBe(200);
  });

  it('forbids frames and content sniffing', async () => {
    const paths = ['/docs', '/docs/start.js', '/openapi.json', '/livez', '/v1/jobs/x', '/nothing'];
    for (const path of [...paths, '/demo/trips', '/demo/sites', '/demo/diagrams']) {
      const { headers } = await fetch(`${fleet.url}${path}`);
      expect([path, headers.get('content-security-policy'), headers.get('x-content-type-options')]).toEqual([
        path,
        expect.stringMatching(/default-src 'none'.*frame-ancestors 'none'/),
        'nosniff',
      ]);
    }
  });

  it('refuses a foreign host, also in the target', async () => {
    const close = 'connection: close\r\n\r\n';
    const { host } = new URL(fleet.url);
    const foreign = `GET http://evil.example/livez HTTP/1.1\r\nhost: evil.example\r\n${close}`;
    expect(problemIn(await RawClient.ask(fleet.url, foreign))).toMatchObject({
      status: 421,
      code: 'WRONG_HOST',
    });
    const mixed = `GET http://evil.example/livez HTTP/1.1\r\nhost: ${host}\r\n${close}`;
    expect(problemIn(await RawClient.ask(fleet.url, mixed))).toMatchObject({ status: 400, code: 'INVALID' });
  });

  it('describes as required only what a call needs', async () => {
    const { body } = await fleet.request('GET', '/openapi.json');
    const paths = body['paths'] as Record<string, Record<string, Operation>>;
    const operations = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ name: `${method} ${path}`, ...operation })),
    );
    const wanted = operations.flatMap(({ name, parameters = [] }) =>
      parameters.filter((each) => each.in === 'query' && each.required).map((each) => [name, each.name]),
    );
    expect(wanted).toEqual([]);
    const bodyOf = (name: string): unknown =>
      operations.find((each) => each.name === name)?.requestBody?.required;
    expect(bodyOf('post /v1/jobs')).toBe(true);
    expect(bodyOf('post /v1/owners/{type}/{id}/cancel')).toBe(false);
    expect(bodyOf('post /v1/admin/sweeps/{sweep}')).toBe(false);
    expect(bodyOf('post /v1/owners/{type}/{id}/reopen')).toBeUndefined();
  });
});

interface Operation {
  readonly parameters?: { readonly name: string; readonly in: string; readonly required?: boolean }[];
  readonly requestBody?: { readonly required?: boolean };
}
