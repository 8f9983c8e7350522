import { Redis } from 'ioredis';
import { until } from './until.js';

/** Keys that stay when nothing is in progress. */
const STAYS =
  /~(closed|idle|cancelled|history-kept|remembers-jobs|partitions|owners~\d+|sweeps~(kinds|operations|lock~[\w-]+|of~[\w-]+))$|:(events:(in|out|dead)|\{fleet\}|\{diagrams:\w\}:known|\{leases\}:(number|secret|all|over|is:(ended|failed)))$/;
const ENDS_BY_ITSELF =
  /~(owner|receipt|worker|told|history|gone|gone-at|once|limit|turn|sweeps~(record|lines|gone|operation))~|~(empty|receipts|workers)$|~sweeps~gone$|:\{(trips\}:(trip|driver|offers|key)|leases\}:(lease|key)|diagrams:\w\}|marker|barrier(:\d+)?\})/;
const RECORD = /~owner~/;

/** Keys of Mooring under a prefix that should not exist, each with the reason. BullMQ's own keys are not checked. */
export async function leftovers(redis: Redis, prefix: string): Promise<string[]> {
  const left: string[] = [];
  for (const key of await keysOf(redis, prefix)) {
    if (STAYS.test(key)) continue;
    if (!ENDS_BY_ITSELF.test(key)) left.push(`${key} is there`);
    else if ((await redis.pttl(key)) === -1) left.push(`${key} does not expire`);
    if (RECORD.test(key)) left.push(...(await jobsIn(redis, key)));
  }
  return left.toSorted((a, b) => a.localeCompare(b));
}

/** Waits until nothing is left; the error lists what is. */
export async function untilNothingIsLeft(storeUrl: string, prefix: string, withinMs = 30_000): Promise<void> {
  const redis = new Redis(storeUrl);
  let left: string[] = [];
  try {
    await until(
      async () => (left = await leftovers(redis, prefix)).length === 0,
      'nothing is left',
      withinMs,
    );
  } catch (error) {
    throw left.length > 0 ? new Error(`There is left:\n  ${left.join('\n  ')}`, { cause: error }) : error;
  } finally {
    await redis.quit();
  }
}

/**
 * The keys of owners, `<prefix>~…` or in a fleet `{<prefix>}~…`, and those of workloads and events, whose names begin
 * with braces or with `events`.
 */
async function keysOf(redis: Redis, prefix: string): Promise<string[]> {
  const found = new Set<string>();
  for (const match of [`${prefix}~*`, `{${prefix}}~*`, `${prefix}:{*`, `${prefix}:events:*`])
    for await (const keys of redis.scanStream({ match, count: 1_000 }))
      for (const key of keys as string[]) found.add(key);
  return [...found];
}

async function jobsIn(redis: Redis, record: string): Promise<string[]> {
  const fields = await redis.hkeys(record);
  return fields.filter((field) => field.includes(':')).map((field) => `${record} has ${field}`);
}
