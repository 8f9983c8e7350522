import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { startEmbedded } from '../embedded/embedded-store.js';
import { compiledEntry } from '../compiled-entry.js';
import { startStoreProcess, type StoreProcess } from '../store-process.js';
import { findServer } from './find-server.js';
import { withFileLock } from './file-lock.js';
import { isAlive } from './is-alive.js';

/** A store that this process started for itself and its children. */
export interface PrivateStore extends StoreProcess {
  /** One line about the kind of store and whether it keeps data. */
  readonly description: string;
}

const RECORD = 'store.json';
/** Kept after the store stops, so that clients find the next store on the same port. */
const PORT = 'store.port';

/**
 * Starts a private store: a server from the PATH, with its data in `folder`, or else the embedded one. Its address is
 * written down in the folder, so that an app started by itself finds it.
 */
export function startPrivateStore(folder: string): Promise<PrivateStore> {
  return withFileLock(folder, () => start(folder));
}

/** The address of the private store with its data in `folder`: of the one that runs, else of a new one. */
export function joinPrivateStore(folder: string): Promise<string> {
  return withFileLock(folder, async () => (await runningPrivateStore(folder)) ?? (await start(folder)).url);
}

async function start(folder: string): Promise<PrivateStore> {
  await endLeftover(folder);
  const program = findServer();
  const port = Number(await readFile(join(folder, PORT), 'utf8').catch(() => '0'));
  const store = program ? await startServer(program, folder, port) : await startEmbeddedOn(port);
  await writeFile(join(folder, PORT), String(store.port));
  const record: StoreRecord = { url: store.url, pid: store.pid };
  await writeRecord(folder, record);
  return {
    ...store,
    description: program
      ? `private ${program}, data kept in ${folder}`
      : 'embedded Valkey (WebAssembly): slower than a real server, and it keeps nothing. ' +
        'Install redis-server or set REDIS_URL for anything you want to keep',
    stop: async () => {
      await store.stop();
      await rm(join(folder, RECORD), { force: true });
    },
  };
}

/** The address of the private store that runs with its data in `folder`, if one does. */
export async function runningPrivateStore(folder: string): Promise<string | undefined> {
  const record = await readRecord(folder);
  return record && (await answers(record.url)) ? record.url : undefined;
}

/** Reuses the previous port if it is free. */
function startEmbeddedOn(port: number): Promise<StoreProcess> {
  return startEmbedded({ port, stdio: 'ignore' }).catch(() => startEmbedded());
}

function startServer(program: string, folder: string, port: number): Promise<StoreProcess> {
  return startStoreProcess(compiledEntry('libs/runtime/src/store/private/server-process.js'), [
    program,
    resolve(folder),
    String(port),
  ]);
}

/**
 * Two servers would corrupt a shared append-only file. A server whose parent process died is therefore shut down first; a
 * server that is in use is left running.
 */
export async function endLeftover(folder: string): Promise<void> {
  const record = await readRecord(folder);
  if (!record || !(await answers(record.url))) return;
  if (isAlive(record.pid)) {
    throw new Error(
      `A private store already runs with its data in ${folder}. Stop the fleet that uses it, or choose another PORT.`,
    );
  }
  await ask(record.url, async (redis) => {
    const [, dir] = await redis.config('GET', 'dir');
    // The server closes the connection instead of answering.
    if (dir === resolve(folder)) await redis.shutdown().catch(() => undefined);
  });
  // The server still writes while it shuts down. No other server may open the file before that.
  for (let tries = 0; tries < 100 && (await answers(record.url)); tries += 1) await pause(50);
}

interface StoreRecord {
  readonly url: string;
  readonly pid: number;
}

async function readRecord(folder: string): Promise<StoreRecord | undefined> {
  const text = await readFile(join(folder, RECORD), 'utf8').catch(() => '');
  try {
    const { url, pid } = JSON.parse(text) as StoreRecord;
    return URL.canParse(url) && Number.isInteger(pid) ? { url, pid } : undefined;
  } catch {
    // No record, or an unreadable one: no store to contact.
    return undefined;
  }
}

/** Writes atomically, so that a crash leaves no partial record. */
async function writeRecord(folder: string, record: StoreRecord): Promise<void> {
  const draft = join(folder, `${RECORD}.${process.pid}`);
  await writeFile(draft, JSON.stringify(record));
  await rename(draft, join(folder, RECORD));
}

async function answers(url: string): Promise<boolean> {
  return (await ask(url, (redis) => redis.ping())) === 'PONG';
}

/** Runs one command over a new connection; undefined if no server answers. */
async function ask<T>(url: string, question: (redis: Redis) => Promise<T>): Promise<T | undefined> {
  const redis = new Redis(url, {
    lazyConnect: true,
    retryStrategy: () => null,
    connectTimeout: 1_000,
    // Another program on this port may accept the connection and never answer.
    commandTimeout: 1_000,
    enableReadyCheck: false,
    protocol: 2,
  });
  redis.on('error', () => redis.disconnect());
  try {
    await redis.connect();
    return await question(redis);
  } catch {
    return undefined;
  } finally {
    redis.disconnect();
  }
}
