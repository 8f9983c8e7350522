import { Owners } from '#core';
import { BenchProcess } from '../harness/bench-process.js';
import type { CancelStore } from './cancel.store.js';
import { monotonicMs } from './clock.js';
import type { Question } from './worker.process.js';

const WORKERS = 2;
const EACH = 10;
export const LEASE_MS = 10_000;
const ROUNDS = { message: 10, renewal: 3 };

/** How long after a cancel was asked for its running jobs' signals abort. */
export interface Told {
  readonly runs: number;
  readonly p50: number;
  readonly p99: number;
  readonly worst: number;
}

/** By message, as it is; and by the renewal of leases alone, when no message arrives. */
export async function told(store: CancelStore): Promise<Record<'message' | 'renewal', Told>> {
  // Who may not read the stream hears no message.
  await store.redis.call(
    'ACL',
    'SETUSER',
    'deaf',
    'on',
    '>deaf',
    '~*',
    '&*',
    '+@all',
    '-xread',
    '-xrevrange',
  );
  const { port, url } = store.store;
  return {
    message: await times(store, url, ROUNDS.message),
    renewal: await times(store, `redis://deaf:deaf@127.0.0.1:${port}`, ROUNDS.renewal),
  };
}

async function times(store: CancelStore, url: string, rounds: number): Promise<Told> {
  const entry = new URL('worker.process.js', import.meta.url);
  const workers = await Promise.all(
    Array.from({ length: WORKERS }, () => BenchProcess.start(entry, [url, String(EACH), String(LEASE_MS)])),
  );
  const askAll = <T>(question: Question): Promise<T[]> =>
    Promise.all(workers.map((worker) => worker.ask<T>(question)));
  try {
    const all: number[] = [];
    // Round 0 warms up.
    for (let round = 0; round <= rounds; round += 1) {
      const tripId = await store.trip('ours', WORKERS * EACH);
      await askAll({ running: EACH });
      const heard = askAll<{ times: number[] }>({ told: EACH });
      const start = monotonicMs();
      await store.app.get(Owners).cancel(`trip:${tripId}`, { wait: 'drained' });
      const latencies = (await heard).flatMap((one) => one.times.map((at) => at - start));
      if (round > 0) all.push(...latencies);
    }
    const sorted = all.toSorted((a, b) => a - b);
    const at = (part: number): number => sorted[Math.floor(sorted.length * part)]!;
    return { runs: sorted.length, p50: at(0.5), p99: at(0.99), worst: sorted.at(-1)! };
  } finally {
    await Promise.all(workers.map((worker) => worker.stop()));
  }
}
