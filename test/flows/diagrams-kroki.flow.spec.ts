import { Redis } from 'ioredis';
import { createHash } from 'node:crypto';
import { request } from 'node:http';
import { deflateSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { diagramOf, newGraph, picture, slowGraph, untilDiagram } from '../support/diagrams.js';
import { Fleet } from '../support/fleet.js';
import { until } from '../support/until.js';

const FORM = 'application/x-www-form-urlencoded';

function encoded(source: string | Buffer): string {
  return deflateSync(source).toString('base64url');
}

/** Calls as existing Kroki clients make them. */
describe('a diagram in one call', () => {
  let fleet: Fleet;
  beforeAll(async () => (fleet = await Fleet.start()));
  afterAll(() => fleet.stop());

  function post(
    path: string,
    body: string | Uint8Array<ArrayBuffer>,
    headers: Record<string, string> = {},
  ): Promise<Response> {
    return fetch(`${fleet.url}/${path}`, { method: 'POST', body, headers });
  }

  it.each([
    ['as text', newGraph(), 'text/plain'],
    ['as curl sends it', newGraph(), FORM],
    ['as JSON', JSON.stringify({ diagram_source: newGraph() }), 'application/json'],
  ])('is drawn from a body %s', async (_how, body, type) => {
    for (const name of ['graphviz', 'dot', 'graphvi%7A']) {
      const answer = await post(`${name}/svg`, body, { 'content-type': type });
      expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'image/svg+xml']);
      expect(answer.headers.get('content-security-policy')).toMatch(/^default-src 'none'/);
      expect(answer.headers.get('mooring-renderer')).toMatch(/^@viz-js\/viz \d/);
      expect(await answer.text()).toMatch(/^<svg/);
    }
  });

  it('is drawn from an address of any length and kept under a short link', async () => {
    const source = `digraph { ${Array.from({ length: 400 }, () => `"${Math.random()}"`).join('; ')} }`;
    const path = encoded(source);
    expect(path.length).toBeGreaterThan(3_000);
    const answer = await fetch(`${fleet.url}/graphviz/svg/${path}`);
    const text = await answer.text();
    expect(answer.status).toBe(200);
    const link = answer.headers.get('location')!;
    expect(await (await picture(fleet, link.replace('/d/', ''))).text()).toBe(text);
    const again = await fetch(`${fleet.url}/graphviz/svg/${path}`, {
      headers: { 'if-none-match': answer.headers.get('etag')! },
    });
    expect(again.status).toBe(304);
  });

  it('is drawn from a source of the maximum length, also as JSON, which is longer', async () => {
    const graph = newGraph();
    const source = `/*${'"'.repeat(1_048_576 - 4 - graph.length)}*/${graph}`;
    const body = JSON.stringify({ diagram_source: source });
    expect(body.length).toBeGreaterThan(2_000_000);
    expect((await post('graphviz/svg', body, { 'content-type': 'application/json' })).status).toBe(200);
    expect((await post('graphviz/svg', `${source} `, { 'content-type': 'text/plain' })).status).toBe(413);
  });

  it('reports what its picture lacks', async () => {
    const source = `quay: { shape: image; icon: https://icons.test/${Math.random()}/ü.svg }`;
    // The renderer may take longer to start than a call waits.
    await untilDiagram(fleet, (await diagramOf(fleet, { type: 'd2', source })).id, 'completed');
    const answer = await post('d2/svg', source, { 'content-type': 'text/plain' });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('mooring-warnings')).toMatch(
      /^An image is left out.*icons\.test.*%C3%BC\.svg$/,
    );
    expect(await answer.text()).toContain('class="image-left-out"');
  });

  it('is drawn as PNG', async () => {
    const answer = await post('nomnoml/png', '[Quay]->[Berth]', { 'content-type': 'text/plain' });
    const bytes = Buffer.from(await answer.arrayBuffer());
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'image/png']);
    expect(bytes.subarray(1, 4).toString()).toBe('PNG');
  });

  it("with an invalid source is refused with the renderer's message, as text or as a problem", async () => {
    const broken = 'digraph {\n a -> -> b\n}';
    const answer = await post('graphviz/svg', broken);
    expect(answer.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect([answer.status, await answer.text()]).toEqual([
      400,
      expect.stringMatching(/^Error 400: .*line 2/s),
    ]);
    const problem = await post('graphviz/svg', broken, { accept: 'application/json' });
    expect([problem.status, await problem.json()]).toMatchObject([422, { code: 'INVALID_DIAGRAM', line: 2 }]);
  });

  it.each([
    ['graphviz/gif', 'digraph {}', 400, 'INVALID'],
    ['graphviz/svg', '', 400, 'INVALID'],
    ['graphviz/svg', ' \n', 400, 'INVALID'],
    ['graphviz/svg', new Uint8Array([0xff, 0xfe, 0x00]), 400, 'INVALID'],
    ['graphviz/svg', 'a'.repeat(1_048_577), 413, 'TOO_LARGE'],
  ])('to %s is refused', async (path, body, status, code) => {
    const answer = await post(path, body, { 'content-type': 'text/plain' });
    expect([answer.status, await answer.json()]).toMatchObject([status, { code }]);
  });

  it.each([
    ['what is not base64', 'a b*', 400],
    ['what is not deflated', Buffer.from('digraph {}').toString('base64url'), 400],
    ['a bomb', encoded(Buffer.alloc(4_000_000, 'a')), 413],
    ['nothing', '', 400],
    ['parts of a path', 'a/b', 400],
    ['a path', '../../etc/passwd', 404],
  ])('is not made of %s', async (_what, path, status) => {
    const answer = await fetch(`${fleet.url}/graphviz/svg/${path}`);
    expect(answer.status).toBe(status);
  });

  it.each(['plantuml/svg', 'svg/graphviz', 'graphviz'])('has no address %s', async (path) => {
    expect((await fetch(`${fleet.url}/${path}`)).status).toBe(404);
  });

  it('is drawn for a caller even if the owner that requested it first is cancelled', async () => {
    const [source, owner] = [slowGraph(18), String(Math.random())];
    const first = await fleet.request('POST', '/v1/diagrams', {
      type: 'graphviz',
      source,
      owner: `trip:${owner}`,
    });
    const { id, shortlink } = first.body as { id: string; shortlink: string };
    await untilDiagram(fleet, id, 'rendering');
    const answer = post('graphviz/svg', source);
    const redis = new Redis(fleet.storeUrl);
    await until(
      async () => (await redis.exists(`${fleet.prefix}:{diagrams:${id[0]}}:${id}:source`)) === 1,
      'two ask for it',
    );
    await redis.quit();
    await fleet.request('POST', `/v1/owners/trip/${owner}/cancel`, { reason: 'gone' });
    const seen = new Set<number>();
    await until(async () => {
      const { status } = await picture(fleet, shortlink);
      seen.add(status);
      return status === 200;
    }, 'it is drawn');
    expect([...seen].filter((status) => status !== 202)).toEqual([200]);
    expect((await answer).status).toBe(200);
  });

  it('is not given up for other callers when one disconnects', async () => {
    const source = slowGraph(20);
    const call = request(`${fleet.url}/graphviz/svg`, { method: 'POST' });
    call.on('error', () => undefined);
    call.end(source);
    const { id } = await until(async () => {
      const answer = await fleet.request('POST', '/v1/diagrams', { type: 'graphviz', source });
      return answer.body['state'] === 'rendering' && (answer.body as { id: string });
    }, 'it is being drawn');
    call.destroy();
    await untilDiagram(fleet, id, 'completed');
  });
});

describe('a call that times out', () => {
  let fleet: Fleet;
  afterEach(() => fleet.stop());

  it("is answered with the picture's future address", async () => {
    fleet = await Fleet.start({ workers: 0, env: { DIAGRAM_WAIT: '300ms' } });
    const began = performance.now();
    const answer = await fetch(`${fleet.url}/graphviz/svg`, { method: 'POST', body: newGraph() });
    expect(performance.now() - began).toBeLessThan(3_000);
    expect([answer.status, await answer.json()]).toMatchObject([504, { code: 'NOT_YET' }]);
    expect(answer.headers.get('retry-after')).toBe('2');
    const link = answer.headers.get('location')!;
    expect((await fetch(`${fleet.url}${link}`)).status).toBe(202);
    await fleet.untilReady(fleet.addWorker());
    await until(async () => (await fetch(`${fleet.url}${link}`)).status === 200, 'it is drawn');
  });

  it('is answered when the api shuts down', async () => {
    fleet = await Fleet.start({ workers: 0 });
    const answer = fetch(`${fleet.url}/graphviz/svg`, { method: 'POST', body: newGraph() });
    await until(() => fleet.api.facts().some(({ event }) => event === 'job.accepted'), 'it waits');
    fleet.api.kill('SIGTERM');
    expect((await answer).status).toBe(504);
    expect(await fleet.api.exited).toEqual({ code: 0, signal: null });
  });
});

describe('diagrams behind api keys', () => {
  let fleet: Fleet;
  const KEYS = ['enqueue', 'read'].map((scope) => {
    return `${scope}:${scope}:${createHash('sha256').update(`key-${scope}`).digest('hex')}`;
  });
  beforeAll(async () => (fleet = await Fleet.start({ env: { API_KEYS: KEYS.join(',') } })));
  afterAll(() => fleet.stop());

  const bearer = (key: string): Record<string, string> => ({ authorization: `Bearer key-${key}` });

  it('need the scope enqueue to draw, and nothing but the link to view', async () => {
    const source = newGraph();
    const calls = [
      (headers: Record<string, string>) =>
        fetch(`${fleet.url}/graphviz/svg`, { method: 'POST', body: source, headers }),
      (headers: Record<string, string>) => fetch(`${fleet.url}/graphviz/svg/${encoded(source)}`, { headers }),
    ];
    for (const call of calls) {
      expect((await call({})).status).toBe(401);
      expect((await call(bearer('read'))).status).toBe(403);
      const answer = await call(bearer('enqueue'));
      expect(answer.status).toBe(200);
      expect((await fetch(`${fleet.url}${answer.headers.get('location')}`)).status).toBe(200);
    }
    const body = { type: 'graphviz', source };
    expect((await fleet.request('POST', '/v1/diagrams', body, bearer('read'))).status).toBe(403);
    const { id } = (await fleet.request('POST', '/v1/diagrams', body, bearer('enqueue'))).body;
    const path = `/v1/diagrams/${String(id)}`;
    expect((await fleet.request('GET', path, undefined, bearer('enqueue'))).status).toBe(403);
    expect((await fleet.request('GET', path, undefined, bearer('read'))).status).toBe(200);
  });

  it('refuse a caller without a key before its body is read', async () => {
    const status = await new Promise((resolve, reject) => {
      const call = request(`${fleet.url}/graphviz/svg`, {
        method: 'POST',
        headers: { 'content-length': 1_000_000, 'content-type': 'text/plain' },
      });
      call.on('response', (response) => {
        resolve(response.statusCode);
        call.destroy();
      });
      call.on('error', reject);
      call.write('digraph');
    });
    expect(status).toBe(401);
  });
});
