import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { chown, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { freePorts } from './redis-server.js';
import { until } from './until.js';

const DEBIAN = '/usr/lib/postgresql';

/** One real PostgreSQL with a folder of its own, deleted after the test. */
export class Postgres {
  private constructor(
    readonly url: string,
    private readonly folder: string,
    private child: ChildProcess,
    private readonly launch: () => ChildProcess,
  ) {}

  static async start(): Promise<Postgres> {
    const bin = findPostgres();
    const folder = await mkdtemp(join(tmpdir(), 'mooring-postgres-'));
    // PostgreSQL refuses to run as root.
    const user = process.getuid?.() === 0 ? idsOf('postgres') : undefined;
    if (user) await chown(folder, user.uid, user.gid);
    const data = join(folder, 'data');
    const flags = ['-D', data, '-U', 'mooring', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'];
    execFileSync(join(bin, 'initdb'), flags, { stdio: ['ignore', 'ignore', 'pipe'], cwd: folder, ...user });

    const [port] = await freePorts(1);
    const settings = { listen_addresses: '127.0.0.1', port, unix_socket_directories: '', fsync: 'off' };
    const args = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    const launch = (): ChildProcess =>
      spawn(join(bin, 'postgres'), ['-D', data, ...args], { stdio: 'ignore', cwd: folder, ...user });
    const url = `postgres://mooring@127.0.0.1:${port}/postgres`;
    const postgres = new Postgres(url, folder, launch(), launch);
    try {
      await postgres.untilReady();
    } catch (error) {
      await postgres.stop();
      throw error;
    }
    return postgres;
  }

  async run(sql: string): Promise<unknown[]> {
    const client = new Client(this.url);
    client.on('error', () => undefined);
    try {
      await client.connect();
      return (await client.query(sql)).rows as unknown[];
    } finally {
      await client.end();
    }
  }

  /** Ends it as a crash does, with what it had committed, and starts it again: it recovers from its log. */
  async crash(): Promise<void> {
    await this.quit();
    this.child = this.launch();
    await this.untilReady();
  }

  private untilReady(): Promise<unknown> {
    return until(() => this.run('select 1'), `PostgreSQL answers on ${this.url}`);
  }

  private async quit(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const exited = once(this.child, 'exit');
    // Stops at once, without waiting for connected clients.
    this.child.kill('SIGQUIT');
    await exited;
  }

  async stop(): Promise<void> {
    await this.quit();
    await rm(this.folder, { recursive: true, force: true });
  }
}

/** The folder of the server's programs; installs them where that is allowed. */
function findPostgres(): string {
  const found = installed();
  if (found) return found;
  if (process.getuid?.() === 0 && existsSync('/usr/bin/apt-get')) {
    const packages = ['install', '-y', '-qq', '--no-install-recommends', 'postgresql'];
    execFileSync('apt-get', ['update', '-qq'], { stdio: 'ignore' });
    execFileSync('apt-get', packages, {
      stdio: 'ignore',
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    });
  }
  const now = installed();
  if (!now)
    throw new Error(
      'These tests need PostgreSQL: install its server (on Debian: apt-get install postgresql).',
    );
  return now;
}

function installed(): string | undefined {
  const versions = existsSync(DEBIAN)
    ? readdirSync(DEBIAN).map((version) => join(DEBIAN, version, 'bin'))
    : [];
  const folders = [...(process.env['PATH'] ?? '').split(':'), ...versions];
  return folders.find((folder) =>
    ['initdb', 'postgres'].every((program) => existsSync(join(folder, program))),
  );
}

function idsOf(user: string): { uid: number; gid: number } {
  const id = (flag: string): number => Number(execFileSync('id', [flag, user], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}
