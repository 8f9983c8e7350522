import { readFileSync } from 'node:fs';

/** Whether a process has ended; one that nobody has collected yet has. */
export function isGone(pid: number): boolean {
  if (!isKnown(pid)) return true;
  try {
    return /^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    // It was collected between the two looks, or there is no /proc here.
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
