import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

import type { Store } from './stores.js';

const ENTRY = fileURLToPath(new URL('./jobs.process.js', import.meta.url));

export interface BenchWorker {
  go(): void;
  kill(): Promise<void>;
}

/** Starts a worker process that takes its first job at `go`. */
export async function startWorker(store: Store, queue: string, lockMs: number): Promise<BenchWorker> {
  const child: ChildProcess = fork(ENTRY, [store.url, queue, '50', String(lockMs)], { execArgv: [] });
  const exited = once(child, 'exit');
  const early = exited.then(([code]) => Promise.reject(new Error(`a worker ended early, with code ${code}`)));
  await Promise.race([once(child, 'message'), early]);
  early.catch(() => {});
  return {
    go: () => void child.send('go'),
    async kill() {
      child.kill('SIGKILL');
      await exited;
    },
  };
}
