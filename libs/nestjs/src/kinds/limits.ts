import type { MooredWorkerOptions } from '#core';
import { backoffMs } from './backoff.js';
import type { KindRegistry } from './kind-registry.js';

/** What the worker of a queue of kinds needs to know: how long their runs may take, and when a failed one is tried again. */
export function workerOptionsOf(kinds: KindRegistry): Pick<MooredWorkerOptions, 'limitsOf' | 'settings'> {
  return {
    limitsOf: ({ name }) => {
      const kind = kinds.find(name);
      return kind && { runTimeoutMs: kind.timeoutMs, stopGraceMs: kind.graceMs };
    },
    settings: { backoffStrategy: backoffMs },
  };
}
