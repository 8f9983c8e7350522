import { rmSync } from 'node:fs';
import { endGroup, startedBy } from '../pool/family.js';

/** Ends the browser of this process, and removes its profile. Never fails. */
export function endBrowser(profile: string): void {
  // It may be only half started, and nobody told of it. Where the system does not say, it ends by its own pipe.
  for (const leader of startedBy(process.pid) ?? []) endGroup(leader);
  try {
    // Its processes may still be writing.
    rmSync(profile, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
  } catch {
    // The next worker sweeps it.
  }
}
