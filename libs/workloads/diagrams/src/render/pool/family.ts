import { readFileSync } from 'node:fs';

/** What a process started itself and has not collected; nothing where the system does not say. */
export function startedBy(pid: number): number[] | undefined {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').map(Number).filter(Boolean);
  } catch {
    return undefined;
  }
}

/** A process with all of its group, if it leads one. */
export function endGroup(leader: number): void {
  for (const whom of [-leader, leader]) {
    try {
      process.kill(whom, 'SIGKILL');
    } catch {
      // The group has ended, or the process leads none yet.
    }
  }
}
