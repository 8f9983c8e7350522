import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { promisify } from 'node:util';
import type { StoreProcess } from '#runtime';

/** A store in a process of its own. */
export type Store = StoreProcess;

/** The version of the redis-server on the PATH, or undefined if there is none. */
export async function redisVersion(): Promise<string | undefined> {
  const version = await promisify(execFile)('redis-server', ['--version']).catch(() => undefined);
  return version && (/v=(\S+)/.exec(version.stdout)?.[1] ?? '');
}

/** The exit code of a benchmark if a program that it needs is missing. */
const CANNOT_BE_MEASURED = 2;

/** The version of the redis-server on the PATH; without one the benchmark says so and ends. */
export async function needRedis(): Promise<string> {
  const version = await redisVersion();
  if (version !== undefined) return version;
  const name = basename(process.argv[1]!, '.bench.js');
  console.error(
    `The benchmark ${name} needs a redis-server on the PATH, and there is none. Install Redis, as in: apt-get install redis-server`,
  );
  process.exit(CANNOT_BE_MEASURED);
}

/** A redis-server that keeps nothing, on the port, or on a free one. Rejects when the port is taken. */
export async function startRedis(wanted?: number): Promise<Store> {
  const port = wanted ?? (await freePort());
  const dir = await mkdtemp(join(tmpdir(), 'mooring-bench-'));
  const flags = [
    ['--save', ''],
    ['--appendonly', 'no'],
    ['--bind', '127.0.0.1'],
    ['--port', String(port)],
    ['--dir', dir],
  ].flat();
  const child = spawn('redis-server', flags, { stdio: ['ignore', 'pipe', 'ignore'] });
  process.once('exit', () => {
    child.kill();
    rmSync(dir, { recursive: true, force: true });
  });
  const exited = once(child, 'exit').then(([code, signal]) => ({ code, signal }));

  if (!(await isReady(child.stdout))) throw new Error(`redis-server ended with code ${(await exited).code}`);
  // Its log is not read any more, and a full pipe would block it.
  child.stdout.resume();
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    pid: child.pid!,
    exited,
    async stop() {
      child.kill('SIGTERM');
      await exited;
    },
  };
}

// It says so in its log; the log ends when the process does.
async function isReady(log: Readable): Promise<boolean> {
  for await (const line of createInterface({ input: log })) if (line.includes('Ready to accept')) return true;
  return false;
}

/** A port that is not in use at the moment. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
