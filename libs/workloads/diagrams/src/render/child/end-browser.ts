import { rmSync } from 'node:fs';
import { endGroup, startedBy } from '../pool/proc.js';

/** Ends the browser of this process, and removes its profile. Never fails. */
export function endBrowser(profile: string): void {
  // The browser may be only half started and not registered yet. Where children cannot be listed, the browser
  // ends with its pipe.
  for (const leader of startedBy(process.pid) ?? []) endGroup(leader);
  try {
    // Its processes may still be writing.
    rmSync(profile, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
  } catch {
    // The next worker sweeps it.
  }
}
