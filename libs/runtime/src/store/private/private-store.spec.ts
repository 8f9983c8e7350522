import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { freePort } from '../../../../../test/support/store.js';
import { findServer } from './find-server.js';
import { isAlive } from './is-alive.js';
import { runningPrivateStore, startPrivateStore, type PrivateStore } from './private-store.js';

async function ask<T>(url: string, question: (redis: Redis) => Promise<T>): Promise<T> {
  const redis = new Redis(url, { retryStrategy: () => null });
  redis.on('error', () => undefined);
  try {
    return await question(redis);
  } finally {
    redis.disconnect();
  }
}

const serverPid = (url: string): Promise<number> =>
  ask(url, async (redis) => Number(/process_id:(\d+)/.exec(await redis.info('server'))![1]));

describe.runIf(findServer())('a private store', () => {
  let folder: string;
  let store: PrivateStore;
  const record = (): string => join(folder, 'store.json');

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'mooring-private-'));
    store = await startPrivateStore(join(folder));
  });

  afterEach(async () => {
    await store.stop();
    await rm(folder, { recursive: true, force: true });
  });

  it('answers at its reported address', async () => {
    expect(store.url).toBe(`redis://127.0.0.1:${store.port}`);
    expect(await ask(store.url, (redis) => redis.ping())).toBe('PONG');
  });

  it('never evicts a key, and writes each change to disk', async () => {
    const settings = await ask(store.url, (redis) => redis.config('GET', 'maxmemory-policy', 'appendonly'));
    expect(settings).toEqual(expect.arrayContaining(['maxmemory-policy', 'noeviction', 'appendonly', 'yes']));
  });

  it('describes itself in one line', () => {
    expect(store.description).toBe(`private ${findServer()}, data kept in ${folder}`);
  });

  it('is found by its folder while it runs', async () => {
    expect(JSON.parse(await readFile(record(), 'utf8'))).toEqual({ url: store.url, pid: store.pid });
    expect(await runningPrivateStore(folder)).toBe(store.url);

    await store.stop();
    expect(await runningPrivateStore(folder)).toBeUndefined();
    expect(await readdir(folder)).not.toContain('store.json');
  });

  it('is not found if no server listens on the recorded port', async () => {
    await store.stop();
    const url = `redis://127.0.0.1:${await freePort()}`;
    await writeFile(record(), JSON.stringify({ url, pid: process.pid }));
    expect(await runningPrivateStore(folder)).toBeUndefined();
  });

  it('leaves no process behind when it is stopped', async () => {
    const server = await serverPid(store.url);
    await store.stop();
    expect(await store.exited).toEqual({ code: 0, signal: null });
    expect([store.pid, server].filter(isAlive)).toEqual([]);
  });

  it('is not started a second time in the same folder', async () => {
    await expect(startPrivateStore(folder)).rejects.toThrow(
      `A private store already runs with its data in ${folder}. Stop the fleet that uses it, or choose another PORT.`,
    );
    expect(await ask(store.url, (redis) => redis.ping())).toBe('PONG');
  });

  it('keeps its data over a restart', async () => {
    await ask(store.url, (redis) => redis.set('name', 'ada'));
    await store.stop();
    store = await startPrivateStore(folder);
    expect(await ask(store.url, (redis) => redis.get('name'))).toBe('ada');
  });

  it('takes over from a server that outlived its parent, with its data', async () => {
    await ask(store.url, (redis) => redis.set('name', 'ada'));
    const { url: leftover } = store;
    const runId = await ask(leftover, readRunId);
    process.kill(store.pid, 'SIGKILL');
    await store.exited;
    expect(await runningPrivateStore(folder)).toBe(leftover);

    store = await startPrivateStore(folder);
    expect(await ask(store.url, readRunId)).not.toBe(runId);
    // On the same port, so that its clients find it again.
    expect(store.url).toBe(leftover);
    expect(await ask(store.url, (redis) => redis.get('name'))).toBe('ada');
    expect(await runningPrivateStore(folder)).toBe(store.url);
  });
});

async function readRunId(redis: Redis): Promise<string | undefined> {
  return /run_id:(\w+)/.exec(await redis.info('server'))?.[1];
}

describe('the record of a private store', () => {
  let folder: string;
  const write = (record: string): Promise<void> => writeFile(join(folder, 'store.json'), record);

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'mooring-record-'));
  });

  afterEach(() => rm(folder, { recursive: true, force: true }));

  it('finds no store when it is truncated', async () => {
    await write('{"url":"redis://127');
    expect(await runningPrivateStore(folder)).toBeUndefined();
  });

  it('does not wait long for a program that listens and sends nothing', { timeout: 5_000 }, async () => {
    const server = createServer().listen(0, '127.0.0.1');
    try {
      await new Promise((resolve) => server.once('listening', resolve));
      const url = `redis://127.0.0.1:${(server.address() as AddressInfo).port}`;
      await write(JSON.stringify({ url, pid: process.pid }));
      expect(await runningPrivateStore(folder)).toBeUndefined();
    } finally {
      server.close();
    }
  });
});
