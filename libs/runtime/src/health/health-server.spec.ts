import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Metrics } from '../metrics/metrics.js';
import { HealthBook } from './health.js';
import { HealthServer } from './health-server.js';

describe('the health server', () => {
  let book: HealthBook;
  let server: HealthServer;
  let url: string;

  beforeEach(async () => {
    book = new HealthBook();
    server = new HealthServer(book, new Metrics('test'));
    url = await server.start('127.0.0.1', 0);
  });

  afterEach(() => server.stop());

  const get = async (path: string): Promise<unknown> => {
    const response = await fetch(`${url}${path}`);
    return {
      status: response.status,
      type: response.headers.get('content-type'),
      body: await response.text(),
    };
  };
  const health = (status: number, body: object): unknown => ({
    status,
    type: 'application/json',
    body: JSON.stringify(body),
  });

  it('reports that the process is alive, even when it is not ready', async () => {
    book.beginDraining();
    expect(await get('/livez')).toEqual(health(200, { ok: true, why: [] }));
  });

  it('reports whether the process is ready, and why not', async () => {
    expect(await get('/readyz')).toEqual(health(200, { ok: true, why: [] }));
    book.add('the store', async () => 'the store is away');
    expect(await get('/readyz')).toEqual(health(503, { ok: false, why: ['the store is away'] }));
  });

  it('shows the metrics', async () => {
    expect(await get('/metrics')).toEqual({
      status: 200,
      type: 'text/plain; version=0.0.4; charset=utf-8',
      body: expect.stringContaining('# TYPE mooring_job_events_total counter\n'),
    });
  });

  it.each(['/', '/livez/', '/healthz', '/metrics/x'])('answers 404 at %s', async (path) => {
    expect(await get(path)).toEqual({
      status: 404,
      type: 'text/plain',
      body: 'Only /livez, /readyz and /metrics are here.\n',
    });
  });

  it('closes its port when it stops, despite open connections', async () => {
    const { port } = new URL(url);
    const held = connect(Number(port), '127.0.0.1');
    await once(held, 'connect');
    const closed = once(held, 'close');

    await server.stop();
    await closed;
    await expect(fetch(`${url}/livez`)).rejects.toMatchObject({ cause: { code: 'ECONNREFUSED' } });
  });

  it('cannot use a port that is in use', async () => {
    const second = new HealthServer(book, new Metrics('test'));
    await expect(second.start('127.0.0.1', Number(new URL(url).port))).rejects.toMatchObject({
      code: 'EADDRINUSE',
    });
  });

  it('reports an address that can be called, on IPv6 too', async () => {
    const second = new HealthServer(book, new Metrics('test'));
    const address = await second.start('::', 0);
    await second.stop();
    expect(address).toMatch(/^http:\/\/\[::\]:\d+$/);
  });
});
