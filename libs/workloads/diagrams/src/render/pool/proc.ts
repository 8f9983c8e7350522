import { readdirSync, readFileSync } from 'node:fs';

/*
 * What Linux tells of processes, in `/proc`. Elsewhere nothing is known of them.
 */

const PAGE = 4_096;

/** What a process started itself and has not collected; undefined where the system does not say. */
export function startedBy(pid: number): number[] | undefined {
  return read(`${pid}/task/${pid}/children`)?.split(' ').map(Number).filter(Boolean);
}

/** What a process has to itself, in MB: what it shares with others is not its own. 0 where the system does not tell. */
export function memoryOf(pid: number): number {
  const [, resident = 0, shared = 0] = read(`${pid}/statm`)?.split(' ').map(Number) ?? [];
  return ((resident - shared) * PAGE) / 1e6;
}

/** The same of all processes of a group. */
export function memoryOfGroup(leader: number): number {
  const members = processes().filter((pid) => groupOf(pid) === leader);
  return members.reduce((sum, pid) => sum + memoryOf(pid), 0);
}

/** Kills a process with all of its group, if it leads one. */
export function endGroup(leader: number): void {
  for (const whom of [-leader, leader]) {
    try {
      process.kill(whom, 'SIGKILL');
    } catch {
      // The group has ended, or the process leads none yet.
    }
  }
}

function processes(): number[] {
  try {
    return readdirSync('/proc').map(Number).filter(Boolean);
  } catch {
    return [];
  }
}

/** A name in brackets may hold anything; after it come state, parent and group. */
function groupOf(pid: number): number {
  const stat = read(`${pid}/stat`) ?? '';
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[2]);
}

function read(file: string): string | undefined {
  try {
    return readFileSync(`/proc/${file}`, 'utf8');
  } catch {
    return undefined;
  }
}
