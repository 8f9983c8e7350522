import { Redis } from 'ioredis';
import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

/*
 * Another client of the store, which asks it for a key every millisecond: `node prober.process.js <store url> <store pid>`.
 * On a busy machine a slow answer says little: the store, or this process, may not have had a processor. So of each answer
 * it also counts what the store computed meanwhile, where the system tells.
 */

/** How long answers took, ms, between a start and a stop. */
export interface Waited {
  readonly worst: number;
  /** The longest that the store itself kept this client waiting: by what it computed before it answered. */
  readonly busy: number;
  readonly busyP99: number;
}

const [url, pid] = process.argv.slice(2) as [string, string];
const redis = new Redis(url, { maxRetriesPerRequest: null });
await redis.ping();
let waits: { ms: number; busy: number }[] = [];

process.on('message', ({ act }: { act: 'start' | 'stop' }) => {
  process.send?.(act === 'stop' ? waited() : {});
  waits = [];
});
process.once('disconnect', () => process.exit(0));
process.send?.('ready');

for (;;) {
  const computed = computedMs();
  const start = performance.now();
  await redis.get('nothing');
  const ms = performance.now() - start;
  waits.push({ ms, busy: computed === undefined ? ms : Math.min(ms, computedMs()! - computed) });
  await pause(1);
}

function waited(): Waited {
  const busy = waits.map((one) => one.busy).toSorted((a, b) => a - b);
  return {
    worst: Math.max(0, ...waits.map(({ ms }) => ms)),
    busy: busy.at(-1) ?? 0,
    busyP99: busy[Math.floor(busy.length * 0.99)] ?? 0,
  };
}

/** How long the store's one thread had a processor so far; Linux alone tells. */
function computedMs(): number | undefined {
  try {
    return Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6;
  } catch {
    return undefined;
  }
}
