import { readFileSync } from 'node:fs';

/** Whether a process has ended; one that nobody has collected yet has. */
export function isGone(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return true;
  }
  try {
    return /^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    // There is no /proc here, or it ended just now: the next look will say so.
    return false;
  }
}
