import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';

import { Redis } from 'ioredis';
import { afterEach, describe, expect, it } from 'vitest';

import { compiledEntry } from '../compiled-entry.js';
import { freePort } from '../../../../../test/support/store.js';
import type { StoreProcess } from '../store-process.js';
import { startEmbedded } from './embedded-store.js';

const ENTRY = compiledEntry('libs/runtime/src/store/embedded/embedded-process.js');

const TAKEN = /port \d+ of 127\.0\.0\.1 is taken by another process/;

const stores: StoreProcess[] = [];
const clients: Redis[] = [];

describe('embedded store', () => {
  afterEach(async () => {
    for (const client of clients.splice(0)) client.disconnect();
    for (const store of stores.splice(0)) {
      await store.stop();
      expect(() => process.kill(store.pid, 0)).toThrow('ESRCH');
    }
  });

  it('listens on the reported port, which was free', async () => {
    const store = await start();

    expect(store.url).toBe(`redis://127.0.0.1:${store.port}`);
    expect(await clientOf(store).ping()).toBe('PONG');
  });

  it('uses the port it is given', async () => {
    const port = await freePort();
    const store = await start(port);

    expect(store.port).toBe(port);
    expect(await clientOf(store).config('GET', 'port')).toEqual(['port', String(port)]);
  });

  it('reports that the port is in use', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;

    await expect(startEmbedded({ port, stdio: 'ignore' })).rejects.toThrow(TAKEN);
    other.close();
  });

  it('keeps two instances apart', async () => {
    const [one, two] = [clientOf(await start()), clientOf(await start())];
    await one.set('whose', 'one');

    expect(await two.get('whose')).toBeNull();
  });

  it('reports that its process was killed', async () => {
    const store = await start();
    process.kill(store.pid, 'SIGKILL');

    expect(await store.exited).toEqual({ code: null, signal: 'SIGKILL' });
  });

  it('reports that it was shut down', async () => {
    const store = await start();
    await shutDown(clientOf(store));

    expect(await store.exited).toEqual({ code: 0, signal: null });
  });

  it('ends when it is stopped, with or without clients, and may be stopped again', async () => {
    const store = await start();
    const client = clientOf(store);
    await client.ping();
    await store.stop();
    await store.stop();

    expect(await store.exited).toEqual({ code: 0, signal: null });
  });

  it('is killed when it does not react', async () => {
    const store = await start();
    process.kill(store.pid, 'SIGSTOP');
    await store.stop();

    expect(await store.exited).toEqual({ code: null, signal: 'SIGKILL' });
  });

  it('leaves Ctrl-C to the process that started it', async () => {
    const store = await start();
    const client = clientOf(store);
    await client.ping();
    process.kill(store.pid, 'SIGINT');
    process.kill(store.pid, 'SIGHUP');

    for (let i = 0; i < 10; i++) expect(await client.ping()).toBe('PONG');
  });

  it('ends when the process that started it is gone', async () => {
    const module = JSON.stringify(pathToFileURL(ENTRY.replace('process.js', 'store.js')).href);
    const script = `import(${module}).then(({ startEmbedded }) => startEmbedded()).then(({ pid }) => console.log(pid));`;
    const parent = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
    const lines = createInterface({ input: parent.stdout });
    const [pid] = (await once(lines, 'line')) as [string];
    expect(() => process.kill(Number(pid), 0)).not.toThrow();

    // Both write to this one pipe: it ends when the last of them has exited.
    const closed = once(lines, 'close');
    parent.kill('SIGKILL');
    await closed;
  });
});

describe('embedded store as a process', () => {
  it('prints nothing without an error', async () => {
    const child = fork(ENTRY, [], { silent: true, execArgv: [] });
    const printed = Promise.all([text(child.stdout!), text(child.stderr!)]);
    const exited = once(child, 'exit');
    const [word] = (await once(child, 'message')) as [{ type: string; port: number }];
    const client = connectTo(word.port);
    await client.set('k', 'v');
    await shutDown(client);

    expect(await exited).toEqual([0, null]);
    expect(await printed).toEqual(['', '']);
  });

  it('reports in one line why it does not start', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const child = spawn(process.execPath, [ENTRY, String(port)], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const printed = Promise.all([text(child.stdout), text(child.stderr)]);

    expect(await once(child, 'exit')).toEqual([1, null]);
    const [out, err] = await printed;
    expect(out).toBe('');
    expect(err.trimEnd().split('\n')).toEqual([expect.stringMatching(TAKEN)]);
    other.close();
  });

  it('ends at Ctrl-C when it was started by hand', async () => {
    const port = await freePort();
    const child = spawn(process.execPath, [ENTRY, String(port)], { stdio: 'ignore' });
    const client = connectTo(port);
    await client.ping();
    child.kill('SIGINT');

    expect(await once(child, 'exit')).toEqual([0, null]);
    client.disconnect();
  });
});

async function start(port?: number): Promise<StoreProcess> {
  const store = await startEmbedded({ stdio: 'ignore', ...(port !== undefined && { port }) });
  stores.push(store);
  return store;
}

function clientOf(store: StoreProcess): Redis {
  const client = connectTo(store.port);
  clients.push(client);
  return client;
}

function connectTo(port: number): Redis {
  const client = new Redis(port, '127.0.0.1', { retryStrategy: () => 20, maxRetriesPerRequest: null });
  client.on('error', () => {});
  return client;
}

/** The server answers SHUTDOWN by closing the connection, so the client must not wait for an answer. */
async function shutDown(client: Redis): Promise<void> {
  client.shutdown('NOSAVE').catch(() => {});
  await once(client, 'close');
  client.disconnect();
}
