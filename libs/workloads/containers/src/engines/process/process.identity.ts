import { execFile } from 'node:child_process';
import { existsSync, readFileSync, readlinkSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

const PROC = '/proc/self/stat';

/** One process, and never another one that gets its id later. */
export interface ProcessIdentity {
  readonly pid: number;
  /** As the system tells it: ticks since the boot, or a date. */
  readonly startedAt: string;
  /** The boot and the room of process ids that `pid` belongs to. */
  readonly machine: string;
}

const machine = nameMachine();

/** The process that has this id now; none if it has ended. */
export async function identify(pid: number): Promise<ProcessIdentity | undefined> {
  const startedAt = existsSync(PROC) ? await startFromProc(pid) : await startFromPs(pid);
  return startedAt === undefined ? undefined : { pid, startedAt, machine };
}

export async function isRunning(identity: ProcessIdentity): Promise<boolean> {
  if (identity.machine !== machine) return false;
  return (await identify(identity.pid))?.startedAt === identity.startedAt;
}

async function startFromProc(pid: number): Promise<string | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  // A program's name stands in brackets, and may hold anything.
  const [state, ...rest] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return hasEnded(state) ? undefined : rest[18];
}

/** Where there is no /proc. */
export async function startFromPs(pid: number): Promise<string | undefined> {
  const asked = promisify(execFile)('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], {
    env: { PATH: process.env['PATH'], LC_ALL: 'C' },
  });
  const { stdout } = await asked.catch(() => ({ stdout: '' }));
  const [state, ...date] = stdout.trim().split(/\s+/);
  return hasEnded(state) ? undefined : date.join(' ');
}

/** One that nobody has collected yet has ended as well. */
function hasEnded(state: string | undefined): boolean {
  return !state || /^[ZX]/.test(state);
}

function nameMachine(): string {
  if (!existsSync(PROC)) return '';
  const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  return `${boot} ${readlinkSync('/proc/self/ns/pid')}`;
}
