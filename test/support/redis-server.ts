import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { findServer, isAlive } from '#runtime';
import { until } from './until.js';

/** Undefined without a program for it; tests then use the embedded store, which is always one server. */
export const HAS_SERVER = findServer() !== undefined;

/** Lines of a settings file, besides `dir`, `port` and `bind`. */
export type Settings = Readonly<Record<string, string | number>>;

/** One real server with a settings file of its own; several can run at once. */
export class RedisServer {
  readonly pid: number;
  private readonly exited: Promise<unknown>;

  private constructor(
    readonly port: number,
    private readonly folder: string,
    child: ChildProcess,
  ) {
    this.pid = child.pid!;
    this.exited = new Promise((resolve) => child.once('exit', resolve));
  }

  static async start(port: number, settings: Settings, flags: readonly string[] = []): Promise<RedisServer> {
    const folder = await mkdtemp(join(tmpdir(), 'mooring-server-'));
    const file = join(folder, 'server.conf');
    const all = { port, bind: '127.0.0.1', dir: folder, ...settings };
    const lines = Object.entries(all).map(([name, value]) => `${name} ${value}`);
    await writeFile(file, `${lines.join('\n')}\n`);
    const server = new RedisServer(port, folder, spawn(findServer()!, [file, ...flags], { stdio: 'ignore' }));
    try {
      await until(() => server.ask((redis) => redis.ping()), `the server on port ${port} answers`);
    } catch (error) {
      await server.stop();
      throw error;
    }
    return server;
  }

  get address(): string {
    return `127.0.0.1:${this.port}`;
  }

  /** Uses a connection of its own, which fails instead of waiting. */
  async ask<T>(question: (redis: Redis) => Promise<T>): Promise<T> {
    const redis = new Redis(this.port, '127.0.0.1', { lazyConnect: true, retryStrategy: () => null });
    redis.on('error', () => redis.disconnect());
    try {
      await redis.connect();
      return await question(redis);
    } finally {
      redis.disconnect();
    }
  }

  freeze(): void {
    process.kill(this.pid, 'SIGSTOP');
  }

  thaw(): void {
    process.kill(this.pid, 'SIGCONT');
  }

  async kill(): Promise<void> {
    if (isAlive(this.pid)) process.kill(this.pid, 'SIGKILL');
    await this.exited;
  }

  /** Removes everything, and checks that. */
  async stop(): Promise<void> {
    await this.kill();
    await rm(this.folder, { recursive: true, force: true });
    if (isAlive(this.pid) || existsSync(this.folder)) throw new Error(`Left behind: ${this.folder}`);
  }
}

/** Several at once, so that all are different. */
export async function freePorts(count: number): Promise<number[]> {
  const probes = Array.from({ length: count }, () => createServer());
  await Promise.all(
    probes.map((probe) => new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve))),
  );
  const ports = probes.map((probe) => (probe.address() as AddressInfo).port);
  await Promise.all(probes.map((probe) => new Promise((resolve) => probe.close(resolve))));
  return ports;
}
