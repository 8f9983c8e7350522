import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';

import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import type { StoreProcess } from '../store-process.js';
import { startEmbedded } from './embedded-store.js';

const MB = 1024 * 1024;
// Valkey does not count what it sends from the key itself, as it does from 16 KB up.
const PAGE = 'x'.repeat(8 * 1024);

describe('clients of the embedded store', () => {
  let store: StoreProcess;
  let client: Redis;

  beforeAll(async () => {
    store = await startEmbedded();
  });

  afterAll(async () => {
    await store.stop();
    expect(() => process.kill(store.pid, 0)).toThrow('ESRCH');
  });

  beforeEach(() => {
    client = new Redis(store.url);
  });

  // A client left behind would keep a file descriptor for ever.
  afterEach(async () => {
    await client.flushall();
    await alone();
    await client.quit();
  });

  it('get their answers', async () => {
    expect(await client.ping()).toBe('PONG');
    expect(await client.set('name', 'ada')).toBe('OK');
    expect(await client.get('name')).toBe('ada');
    expect(await client.eval('return redis.call("GET", KEYS[1])', 1, 'name')).toBe('ada');
  });

  it('never lose a key for lack of memory', async () => {
    expect(await client.config('GET', 'maxmemory-policy')).toEqual(['maxmemory-policy', 'noeviction']);
  });

  it('get the time of day', async () => {
    const [seconds, micros] = (await client.time()).map(Number);

    expect(Math.abs(seconds! * 1000 + micros! / 1000 - Date.now())).toBeLessThan(1_000);
  });

  it('do not wait for a tick between two commands', async () => {
    const took: number[] = [];
    for (let i = 0; i < 200; i++) {
      const start = performance.now();
      await client.set('k', i);
      took.push(performance.now() - start);
    }

    // A reply that waits for the next event or tick takes 10 to 100 ms; these take a fraction of one.
    expect(took.toSorted((a, b) => a - b)[100]).toBeLessThan(5);
  });

  it('may connect and disconnect without limit: 7,000 in a row are answered', async () => {
    for (let i = 0; i < 7_000; i++) {
      const socket = open();
      socket.write('PING\r\n');
      const [reply] = (await once(socket, 'data')) as [Buffer];
      socket.destroy();
      expect(reply.toString(), `connection ${i}`).toBe('+PONG\r\n');
    }
  });

  it('wait no longer than they asked for', async () => {
    const start = performance.now();
    for (let i = 0; i < 20; i++) expect(await client.blpop('nothing', 0.001)).toBeNull();

    expect(performance.now() - start).toBeLessThan(20 * 50);
  });

  it('are woken by what they wait for', async () => {
    const other = new Redis(store.url);
    const popped = client.blpop('list', 0);
    await other.rpush('list', 'item');

    expect(await popped).toEqual(['list', 'item']);
    await other.quit();
  });

  it('see a key expire', async () => {
    await client.set('short', 'life', 'PX', 1);
    await until(async () => (await client.dbsize()) === 0);
  });

  it('receive published messages', async () => {
    const listener = new Redis(store.url);
    await listener.subscribe('news');
    const heard = once(listener, 'message');
    await client.publish('news', 'hello');

    expect(await heard).toEqual(['news', 'hello']);
    await listener.quit();
  });

  it('may send a value of 20 MB in pieces', async () => {
    const value = Buffer.alloc(20 * MB, 'a piece of something ');
    const socket = open();
    socket.write(`*3\r\n$3\r\nSET\r\n$3\r\nbig\r\n$${value.length}\r\n`);
    for (let at = 0; at < value.length; at += 100_007) {
      if (!socket.write(value.subarray(at, at + 100_007))) await once(socket, 'drain');
    }
    socket.write('\r\n');

    expect(String((await once(socket, 'data'))[0])).toBe('+OK\r\n');
    expect((await client.getBuffer('big'))!.equals(value)).toBe(true);
    socket.destroy();
  });

  it('get every answer after they have closed their side', async () => {
    const socket = open({ allowHalfOpen: true });
    socket.end('SET last word\r\nGET last\r\n');

    expect(await text(socket)).toBe('+OK\r\n$4\r\nword\r\n');
    socket.destroy();
  });

  it('may read slowly: Valkey buffers the answers and loses none', async () => {
    await client.set('page', PAGE);
    const socket = open().pause();
    socket.write('GET page\r\n'.repeat(8_000));
    await until(async () => (await unsent()) > 32 * MB);
    expect(await client.ping()).toBe('PONG');

    expect(await bytesOf(socket, 8_000 * `$${PAGE.length}\r\n${PAGE}\r\n`.length)).toBe(true);
    socket.destroy();
  });

  it('are dropped when they subscribe and do not read', async () => {
    const socket = open().pause();
    socket.write('SUBSCRIBE flood\r\n');
    await until(async () => (await client.publish('flood', PAGE)) === 1);
    await until(async () => (await client.publish('flood', PAGE)) === 0);

    await alone();
    socket.destroy();
  });

  it('may disconnect in the middle of an answer', async () => {
    await client.set('page', 'x'.repeat(MB));
    const socket = open();
    socket.write('GET page\r\n'.repeat(64));
    await once(socket, 'data');
    socket.resetAndDestroy();

    await alone();
    expect(await client.ping()).toBe('PONG');
  });

  function open(options: { allowHalfOpen?: boolean } = {}): Socket {
    return connect({ host: '127.0.0.1', port: store.port, ...options });
  }

  function alone(): Promise<void> {
    return until(async () => (await clientLines()).length === 1);
  }

  async function clientLines(): Promise<string[]> {
    return String(await client.client('LIST'))
      .trim()
      .split('\n');
  }

  /** Bytes of unread answers that Valkey buffers. */
  async function unsent(): Promise<number> {
    const held = (await clientLines()).map((line) => Number(/ omem=(\d+)/.exec(line)![1]));
    return Math.max(...held);
  }
});

async function until(isFact: () => Promise<boolean>): Promise<void> {
  while (!(await isFact()));
}

async function bytesOf(socket: Socket, count: number): Promise<boolean> {
  let seen = 0;
  for await (const chunk of socket) {
    seen += (chunk as Buffer).length;
    if (seen >= count) break;
  }
  return seen === count;
}
