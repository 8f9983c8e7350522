import { readFileSync } from 'node:fs';

/** Whether a process has ended, even if its parent has not collected it yet. */
export function isGone(pid: number): boolean {
  if (!isKnown(pid)) return true;
  try {
    return /^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    // The process was collected between the two checks, or there is no /proc here.
    return !isKnown(pid);
  }
}

function isKnown(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
