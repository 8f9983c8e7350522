import { readdir, rename, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Fleet } from '../support/fleet.js';
import { until } from '../support/until.js';

const SIZE = 100_000;

interface Link {
  readonly name: string;
  readonly size: number;
  readonly sha256: string;
  readonly href: string;
}

describe('the artifacts of a job', () => {
  let fleet: Fleet;
  let id: string;
  let link: Link;
  beforeAll(async () => {
    fleet = await Fleet.start();
    id = await fleet.probe({ artifactBytes: SIZE });
    await fleet.untilState(id, 'completed');
    [link] = await linksOf(id);
  });
  afterAll(() => fleet.stop());

  it('are listed with the job', () => {
    expect(link).toEqual({
      name: 'probe.bin',
      size: SIZE,
      contentType: 'application/octet-stream',
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
      href: `/v1/jobs/${id}/artifacts/probe.bin`,
    });
  });

  it('are sent whole, as a download that browsers never display', async () => {
    const response = await get(link.href);
    const bytes = Buffer.from(await response.arrayBuffer());
    expect(response.status).toBe(200);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'application/octet-stream',
      'content-length': String(SIZE),
      'content-disposition': `attachment; filename="probe.bin"; filename*=UTF-8''probe.bin`,
      'x-content-type-options': 'nosniff',
      'content-security-policy': "sandbox; default-src 'none'",
      'accept-ranges': 'bytes',
      etag: `"${link.sha256}"`,
    });
    expect(bytes.length).toBe(SIZE);
    expect(bytes.subarray(0, 8).toString()).toBe('mooring ');
  });

  it('are not sent again to a client that has them', async () => {
    for (const tag of [`"${link.sha256}"`, `W/"${link.sha256}"`, `"x", "${link.sha256}"`, '*']) {
      const response = await get(link.href, { 'if-none-match': tag });
      expect([response.status, await response.text()]).toEqual([304, '']);
    }
    const other = await get(link.href, { 'if-none-match': '"x"' });
    expect([other.status, (await other.arrayBuffer()).byteLength]).toEqual([200, SIZE]);
  });

  it.each([
    ['bytes=0-0', 206, `bytes 0-0/${SIZE}`, 1],
    ['bytes=8-15', 206, `bytes 8-15/${SIZE}`, 8],
    [`bytes=${SIZE - 1}-`, 206, `bytes ${SIZE - 1}-${SIZE - 1}/${SIZE}`, 1],
    ['bytes=-3', 206, `bytes ${SIZE - 3}-${SIZE - 1}/${SIZE}`, 3],
    [`bytes=-${SIZE * 2}`, 206, `bytes 0-${SIZE - 1}/${SIZE}`, SIZE],
    [`bytes=5-${SIZE * 2}`, 206, `bytes 5-${SIZE - 1}/${SIZE}`, SIZE - 5],
    ['bytes=0-1,4-5', 200, null, SIZE],
    ['bytes=9-8', 200, null, SIZE],
    ['bytes=-', 200, null, SIZE],
    ['lines=0-1', 200, null, SIZE],
  ])('are sent in part: %s', async (range, status, contentRange, length) => {
    const response = await get(link.href, { range });
    const { byteLength } = await response.arrayBuffer();
    expect([response.status, response.headers.get('content-range'), byteLength]).toEqual([
      status,
      contentRange,
      length,
    ]);
  });

  it('are sent whole when If-Range names another version', async () => {
    const of = async (tag: string): Promise<number> =>
      (await get(link.href, { range: 'bytes=0-0', 'if-range': tag })).status;
    expect([await of(`"${link.sha256}"`), await of('"x"')]).toEqual([206, 200]);
  });

  it.each([`bytes=${SIZE}-`, 'bytes=-0'])('have no range %s', async (range) => {
    const { status, headers, body } = await fleet.request('GET', link.href, undefined, { range });
    expect({ status, body, range: headers.get('content-range') }).toMatchObject({
      status: 416,
      body: { code: 'RANGE_NOT_SATISFIABLE' },
      range: `bytes */${SIZE}`,
    });
  });

  it.each([
    'nothing.bin',
    '..%2f..%2fetc%2fpasswd',
    '..',
    '%2e%2e',
    'probe.bin%00',
    '%E2%88%95etc',
    'x'.repeat(600),
  ])('do not exist under the name %s', async (name) => {
    const { status } = await fleet.request('GET', `/v1/jobs/${id}/artifacts/${name}`);
    expect(status).toBe(404);
  });

  it('do not exist for an unknown job', async () => {
    for (const job of ['probe-00000000000000000000', '..%2f..', 'x'])
      expect((await fleet.request('GET', `/v1/jobs/${job}/artifacts/probe.bin`)).body).toMatchObject({
        status: 404,
        code: 'NOT_FOUND',
      });
  });

  it('may be empty', async () => {
    const empty = await fleet.probe({ artifactBytes: 0 });
    await fleet.untilState(empty, 'completed');
    const [{ href, size }] = await linksOf(empty);
    const response = await get(href);
    expect([size, response.status, await response.text()]).toEqual([0, 200, '']);
    expect((await get(href, { range: 'bytes=0-' })).status).toBe(416);
  });

  it('are those of the attempt that completed', async () => {
    const failing = await fleet.probe({ artifactBytes: 3, failTimes: 1 });
    await fleet.untilState(failing, 'completed');
    expect(await linksOf(failing)).toMatchObject([{ name: 'probe.bin', size: 3 }]);
  });

  it('of a failed job are not listed', async () => {
    const failing = await fleet.probe({ artifactBytes: 3, failTimes: 3 });
    await fleet.untilState(failing, 'failed');
    expect(await linksOf(failing)).toEqual([]);
  });

  it('are unavailable while their volume is missing, and available again afterwards', async () => {
    const [{ href }] = await linksOf(id);
    const away = `${fleet.artifacts}-away`;
    await rename(fleet.artifacts, away);
    try {
      const response = await get(href);
      expect([response.status, await response.json()]).toMatchObject([503, { code: 'ARTIFACT_UNAVAILABLE' }]);
    } finally {
      await rename(away, fleet.artifacts);
    }
    expect((await get(href)).status).toBe(200);
  });

  it('are unavailable when their file is truncated, and no reader waits for the rest', async () => {
    const cut = await fleet.probe({ artifactBytes: SIZE });
    await fleet.untilState(cut, 'completed');
    const [[file], [{ href }]] = [await filesOf(cut), await linksOf(cut)];
    await truncate(join(fleet.artifacts, file!), 100);
    for (const range of ['bytes=0-', 'bytes=200-300'])
      expect(await (await get(href, { range })).json()).toMatchObject({ code: 'ARTIFACT_UNAVAILABLE' });
    expect((await get(href)).status).toBe(503);
  });

  it('are removed when the job is cancelled while it waits for its next attempt', async () => {
    const owner = { owners: ['trip:cancelled'] };
    const retrying = await fleet.probe({ artifactBytes: SIZE, failTimes: 3, ms: 500 }, owner);
    const isThere = async (): Promise<boolean> => (await filesOf(retrying)).length > 0;
    // A failed attempt removes its artifacts, so they exist only for a moment.
    while (!(await isThere())) await pause(1);
    // Read from the worker's log: by the time a state request is answered, the next attempt has often begun.
    const hasFailed = (): boolean =>
      fleet.workers[0]!.facts().some(({ event, jobId }) => event === 'job.failed' && jobId === retrying);
    await until(hasFailed, 'it has failed once');
    await fleet.request('POST', '/v1/owners/trip/cancelled/cancel', { reason: 'off' });
    await until(async () => !(await isThere()), 'nothing of it is left');
  });

  it('are described in the OpenAPI document', async () => {
    const { body } = await fleet.request('GET', '/openapi.json');
    const { paths } = body as { paths: Record<string, { get: { responses: object } }> };
    const { responses } = paths['/v1/jobs/{id}/artifacts/{name}']!.get;
    expect(Object.keys(responses)).toEqual(
      expect.arrayContaining(['200', '206', '304', '404', '416', '503']),
    );
  });

  async function linksOf(job: string): Promise<[Link, ...Link[]]> {
    const { body } = await fleet.request('GET', `/v1/jobs/${job}`);
    return body['artifacts'] as [Link, ...Link[]];
  }

  function get(href: string, headers: Record<string, string> = {}): Promise<Response> {
    return fetch(`${fleet.url}${href}`, { headers });
  }

  async function filesOf(job: string): Promise<string[]> {
    const all = await readdir(fleet.artifacts, { recursive: true });
    return all.filter((path) => path.includes(`${job}/`));
  }
});

describe('artifacts behind api keys', () => {
  it('require a key that may read', async () => {
    const hash = 'a'.repeat(64);
    const fleet = await Fleet.start({ workers: 0, env: { API_KEYS: `shop:enqueue:${hash}` } });
    try {
      const { status } = await fleet.request('GET', '/v1/jobs/probe-00000000000000000000/artifacts/a');
      expect(status).toBe(401);
    } finally {
      await fleet.stop();
    }
  });
});
