import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { freePort } from './redis-server.js';

const DEBIAN = '/usr/lib/postgresql';
const USER = 'mooring';
/** Of the times in /proc: what `getconf CLK_TCK` says on every Linux. */
const MS_A_TICK = 10;

/** A PostgreSQL in processes of its own. */
export interface PostgresServer {
  readonly url: string;
  /** What all its processes have computed so far; Linux alone tells. */
  cpuMs(): number;
  stop(): Promise<void>;
}

/** Where the programs of the newest installed PostgreSQL are, or undefined if there is none. */
export function findPostgres(): string | undefined {
  const installed = existsSync(DEBIAN) ? readdirSync(DEBIAN).toSorted((a, b) => Number(b) - Number(a)) : [];
  const folders = [
    ...(process.env['PATH'] ?? '').split(':'),
    ...installed.map((version) => join(DEBIAN, version, 'bin')),
  ];
  return folders.find((folder) =>
    ['initdb', 'postgres'].every((program) => existsSync(join(folder, program))),
  );
}

/** An empty PostgreSQL on a free port that waits for no disk, as the benchmarks' Redis does not. */
export async function startPostgres(bin: string): Promise<PostgresServer> {
  const folder = await mkdtemp(join(tmpdir(), 'mooring-bench-'));
  // PostgreSQL refuses to run as root.
  const user = process.getuid?.() === 0 ? idsOf('postgres') : undefined;
  if (user) chownSync(folder, user.uid, user.gid);
  const options = { cwd: folder, ...user };
  const data = join(folder, 'data');
  const flags = ['-D', data, '-U', USER, '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'];
  execFileSync(join(bin, 'initdb'), flags, { ...options, stdio: ['ignore', 'ignore', 'pipe'] });
  const port = await freePort();
  const settings = { listen_addresses: '127.0.0.1', port, unix_socket_directories: '', fsync: 'off' };
  const args = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const child = spawn(join(bin, 'postgres'), ['-D', data, ...args], {
    ...options,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const end = (): void => {
    child.kill('SIGQUIT');
    rmSync(folder, { recursive: true, force: true });
  };
  process.once('exit', end);
  const exited = once(child, 'exit');
  if (!(await isReady(child.stderr)))
    throw new Error(`postgres ended with code ${String((await exited)[0])}`);
  // The rest of the log is not read, and a full pipe would block the server.
  child.stderr.resume();
  return {
    url: `postgres://${USER}@127.0.0.1:${port}/postgres`,
    cpuMs: () => cpuMsOf(child.pid!),
    async stop() {
      child.kill('SIGQUIT');
      await exited;
      process.off('exit', end);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function isReady(log: Readable): Promise<boolean> {
  for await (const line of createInterface({ input: log }))
    if (line.includes('ready to accept connections')) return true;
  return false;
}

function idsOf(user: string): { uid: number; gid: number } {
  const id = (flag: string): number => Number(execFileSync('id', [flag, user], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}

/** Of the server, of the children that have ended, and of those that live. */
function cpuMsOf(pid: number): number {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean);
  const [user, system, endedUser, endedSystem] = ticksOf(String(pid));
  const living = children.map((child) => {
    const [childUser, childSystem] = ticksOf(child);
    return childUser + childSystem;
  });
  return living.reduce((sum, ticks) => sum + ticks, user + system + endedUser + endedSystem) * MS_A_TICK;
}

/** User and system time of a process, and of its ended children; zeros for one that has just ended. */
function ticksOf(pid: string): [number, number, number, number] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name, in parentheses, may hold spaces. The 14th to the 17th field count from the first.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields.slice(11, 15).map(Number) as [number, number, number, number];
  } catch {
    return [0, 0, 0, 0];
  }
}
