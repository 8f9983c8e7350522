import { readdirSync, readFileSync } from 'node:fs';

const PAGE = 4_096;

/** What a process has to itself, in MB: what it shares with others is not its own. 0 where the system does not tell. */
export function memoryOf(pid: number): number {
  try {
    const [, resident, shared] = readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ').map(Number);
    return (((resident ?? 0) - (shared ?? 0)) * PAGE) / 1e6;
  } catch {
    return 0;
  }
}

/** The same of all processes of a group. */
export function memoryOfGroup(leader: number): number {
  let sum = 0;
  for (const pid of processes()) if (groupOf(pid) === leader) sum += memoryOf(pid);
  return sum;
}

function processes(): number[] {
  try {
    return readdirSync('/proc').map(Number).filter(Boolean);
  } catch {
    return [];
  }
}

function groupOf(pid: number): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // A name in brackets may hold anything; after it come state, parent and group.
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[2]);
  } catch {
    return undefined;
  }
}
