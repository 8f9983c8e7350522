import { execFile } from 'node:child_process';
import { existsSync, readFileSync, readlinkSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

const PROC = '/proc/self/stat';

/** Identifies one process, even after its pid is reused. */
export interface ProcessIdentity {
  readonly pid: number;
  /** As the system reports it: ticks since boot, or a date. */
  readonly startedAt: string;
  /** The boot and the pid namespace that `pid` belongs to. */
  readonly machine: string;
}

const machine = nameMachine();

/** The process with this pid now; undefined if it has ended. */
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
  // A program's name is in parentheses and may contain any character.
  const [state, ...rest] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return hasEnded(state) ? undefined : rest[18];
}

/** For systems without /proc. */
export async function startFromPs(pid: number): Promise<string | undefined> {
  const asked = promisify(execFile)('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], {
    env: { PATH: process.env['PATH'], LC_ALL: 'C' },
  });
  const { stdout } = await asked.catch(() => ({ stdout: '' }));
  const [state, ...date] = stdout.trim().split(/\s+/);
  return hasEnded(state) ? undefined : date.join(' ');
}

/** A zombie has ended too. */
function hasEnded(state: string | undefined): boolean {
  return !state || /^[ZX]/.test(state);
}

function nameMachine(): string {
  if (!existsSync(PROC)) return '';
  const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  return `${boot} ${readlinkSync('/proc/self/ns/pid')}`;
}
