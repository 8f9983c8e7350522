import { createReadStream } from 'node:fs';
import { IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { openFilesOf } from '../../../../test/support/open-files.js';
import { problemIn, RawClient } from '../../../../test/support/raw-client.js';
import { until } from '../../../../test/support/until.js';
import { openServer, type ServerLimits } from './server.js';

const get = (path: string): string => `GET ${path} HTTP/1.1\r\nhost: here\r\n\r\n`;
const ok: RequestListener = (request, response) => void response.end(`<${request.url}>`);

describe('the server', () => {
  let server: Server;
  let url: string;
  const clients: RawClient[] = [];

  async function start(answer: RequestListener, limits: Partial<ServerLimits> = {}): Promise<void> {
    server = openServer(answer, { maxConnections: 64, requestTimeoutMs: 60_000, ...limits });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  async function join(text = ''): Promise<RawClient> {
    const client = await RawClient.connect(url);
    clients.push(client);
    client.write(text);
    return client;
  }

  afterEach(async () => {
    for (const client of clients.splice(0)) client.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  it('answers the requests of one connection one at a time and in order', async () => {
    const begun: string[] = [];
    const answers: ServerResponse[] = [];
    await start((request, response) => {
      begun.push(request.url!);
      answers.push(response);
    });
    const client = await join(get('/1') + get('/2'));
    await until(() => begun.length === 1, 'the first is begun');
    // Another connection is served first, which shows that the second request of this one waits.
    await join(get('/other'));
    await until(() => begun.length === 2, 'that of another is begun');
    answers[0]!.end('first');
    await until(() => begun.length === 3, 'the second is begun');
    answers[2]!.end('second');
    await until(() => client.received.includes('second'), 'both are answered');
    expect(begun).toEqual(['/1', '/other', '/2']);
    expect(client.received.indexOf('first')).toBeLessThan(client.received.indexOf('second'));
  });

  it('answers eleven requests sent at once and closes a connection that sends twelve', async () => {
    await start((_request, response) => void setImmediate(() => response.end('<answer>')));
    const modest = await join(get('/').repeat(11));
    await until(() => modest.received.split('<answer>').length === 12, 'all are answered');
    const greedy = await join(get('/').repeat(12));
    await greedy.untilClosed();
    expect([modest.isClosed, greedy.received]).toEqual([false, '']);
  });

  it('parses only a few of thousands of requests in one write before it closes the connection', async () => {
    let made = 0;
    class CountedRequest extends IncomingMessage {
      constructor(socket: Socket) {
        super(socket);
        made += 1;
      }
    }
    await start((_request, response) => void setImmediate(() => response.end()), {
      IncomingMessage: CountedRequest,
    });
    const greedy = await join(get('/').repeat(2_500));
    await greedy.untilClosed();
    expect(made).toBeLessThan(100);
  });

  it('receives a complete body over many slices', async () => {
    await start((request, response) => {
      let length = 0;
      request.on('data', (chunk: Buffer) => (length += chunk.length));
      request.on('end', () => response.end(`<${length}>`));
    });
    const body = 'x'.repeat(300_000);
    const client = await join(
      `POST / HTTP/1.1\r\nhost: here\r\ncontent-length: ${body.length}\r\n\r\n${body}${get('/')}`,
    );
    await until(() => client.received.includes('<0>'), 'both are answered');
    expect(client.received).toContain('<300000>');
  });

  it('queues a request with an unknown Expect header like any other', async () => {
    await start(ok);
    const client = await join(`GET /odd HTTP/1.1\r\nhost: here\r\nexpect: more\r\n\r\n`);
    await until(() => client.received.includes('</odd>'), 'it is answered');
    const greedy = await join(`GET / HTTP/1.1\r\nhost: here\r\nexpect: more\r\n\r\n`.repeat(12));
    await greedy.untilClosed();
    expect(client.isClosed).toBe(false);
  });

  it('passes on a header that follows thousands of others', async () => {
    await start(
      (request, response) =>
        void response.end(`<${request.rawHeaders.filter((name) => name === 'host').length}>`),
    );
    const client = await join(`GET / HTTP/1.1\r\nhost: a\r\n${'a:\r\n'.repeat(2_100)}host: b\r\n\r\n`);
    await until(() => client.received.includes('<2>'), 'it is answered');
  });

  it('lets a thousand requests wait in total and does not count those of closed connections', async () => {
    const held: ServerResponse[] = [];
    await start((_request, response) => void held.push(response), { maxConnections: 200 });
    for (let i = 0; i < 100; i += 1) await join(get('/').repeat(11));
    await until(() => held.length === 100, 'each has begun one');
    await (await join(get('/').repeat(2))).untilClosed();
    for (const client of clients) client.close();
    await until(() => held.every((response) => response.closed), 'all are gone');
    held.length = 0;
    const later = await join(get('/').repeat(2));
    await until(() => held.length === 1, 'it is begun');
    held[0]!.end();
    await until(() => held.length === 2, 'the one behind it is begun');
    expect(later.isClosed).toBe(false);
  });

  it('closes the files that a disconnected client requested', async () => {
    // /dev/zero has no end, so it stays open until one side closes it.
    const file = '/dev/zero';
    const open = async (): Promise<number> =>
      (await openFilesOf('self')).filter((name) => name === file).length;
    let begun = 0;
    await start((_request, response) => {
      begun += 1;
      const bytes = createReadStream(file);
      response.once('close', () => bytes.destroy());
      bytes.pipe(response);
    });
    for (let i = 0; i < 20; i += 1) {
      const client = await join();
      client.stopReading();
      client.write(get('/').repeat(10));
    }
    await until(async () => begun === 20 && (await open()) === 20, 'each has a file open');
    for (const client of clients) client.close();
    await until(async () => (await open()) === 0, 'every file is closed');
    expect(begun).toBe(20);
  });

  it('closes the connection that has waited longest for its client when the limit is exceeded', async () => {
    const held: ServerResponse[] = [];
    await start(
      (request, response) => {
        if (request.url === '/held') held.push(response);
        else ok(request, response);
      },
      { maxConnections: 16 },
    );
    const busy = await join(get('/held'));
    await until(() => held.length === 1, 'one is being answered');
    const silent = await join();
    const slow = await join('GET / HTTP/1.1\r\nhost:');
    for (let i = 0; i < 13; i += 1) await join(get('/kept'));
    const newest = await join(get('/new'));
    await until(() => newest.received.includes('</new>'), 'the newest is answered');
    await silent.untilClosed();
    expect([busy.isClosed, slow.isClosed]).toEqual([false, false]);
    await join(get('/newer'));
    await slow.untilClosed();
    held[0]!.end('held');
    await until(() => busy.received.endsWith('held'), 'the busy one is answered');
  });

  it('refuses a new connection while all others are being answered', async () => {
    let begun = 0;
    await start(() => void (begun += 1), { maxConnections: 16 });
    for (let i = 0; i < 16; i += 1) await join(get('/'));
    await until(() => begun === 16, 'all are being answered');
    await (await join()).untilClosed();
    expect(clients.filter(({ isClosed }) => isClosed)).toHaveLength(1);
  });

  it.each([
    ['headers', 'GET / HTTP/1.1\r\nhost: here\r\nx: '],
    ['a body', 'POST / HTTP/1.1\r\nhost: here\r\ncontent-length: 1000\r\n\r\n'],
  ])('answers 408 to a request with slow %s', async (_what, beginning) => {
    await start((request) => void request.resume(), { requestTimeoutMs: 2_000 });
    const client = await join(beginning);
    // While bytes arrive, only the limit for the whole request applies.
    const drip = setInterval(() => client.write('x'), 100);
    await client.untilClosed().finally(() => clearInterval(drip));
    expect(problemIn(client.received)).toEqual({
      status: 408,
      type: 'application/problem+json',
      code: 'REQUEST_TIMEOUT',
    });
  });

  it('closes the connection of a client that does not read its answer', async () => {
    await start((_request, response) => void response.end(Buffer.alloc(64 * 1024 * 1024)), {
      requestTimeoutMs: 1_000,
    });
    const client = await join();
    client.stopReading();
    client.write(get('/'));
    await until(
      () => new Promise((resolve) => server.getConnections((_error, count) => resolve(count === 0))),
      'the server has closed it',
    );
  });

  it.each([
    ['a line that is not a request', 'hello\r\n\r\n', 400, 'INVALID', 'Correct'],
    ['a header without a name', 'GET / HTTP/1.1\r\nhost: here\r\n: x\r\n\r\n', 400, 'INVALID', 'Correct'],
    [
      'an invalid length',
      'POST / HTTP/1.1\r\nhost: here\r\ncontent-length: x\r\n\r\n',
      400,
      'INVALID',
      'Correct',
    ],
    [
      'endless headers',
      `GET / HTTP/1.1\r\nhost: here\r\nx: ${'x'.repeat(20_000)}\r\n\r\n`,
      431,
      'REQUEST_HEADER_FIELDS_TOO_LARGE',
      'Send fewer',
    ],
  ])('answers %s with a problem that says what to do', async (_what, text, status, code, next) => {
    await start(ok);
    const client = await join(text);
    await client.untilClosed();
    expect(problemIn(client.received)).toEqual({ status, type: 'application/problem+json', code });
    expect(client.received).toContain(`. ${next} `);
  });

  it('does not answer a parser error in place of the previous request', async () => {
    let begun = 0;
    await start(() => void (begun += 1));
    const client = await join(`${get('/')}hello\r\n\r\n`);
    await client.untilClosed();
    expect([begun, client.received]).toEqual([1, '']);
  });
});
