import { Redis } from 'ioredis';
import { until } from './until.js';

/** What `keys.ts` lets stay when nothing is under way: queue hashes, and what ends by itself. */
const STAYS =
  /:(\{queue:[^}]+\}|\{cancels\}:told|events:(in|out|dead)|\{owners:\d+\}|\{due:\d+\}|\{fleet\}|\{diagrams:\w\}:known|\{leases\}:(number|secret|all|over|is:(ended|failed))|\{sweeps\}:(at|walks|of:\w+|lock:\w+:fence))$/;
/** Who was seen to be gone leaves this with the list, minutes after the last job. */
const SIGHTED = /:\{owners:\d+\}:gone$/;
const RECORD = /:\{[\w-]{22}\}$/;
const ENDS_BY_ITSELF =
  /(:\{[\w-]{22}\}(:history|:cancel:[^:]+)?|:\{slot:[\w-]{22}\}:limit|:\{idem:[^}]+\}|:\{gone:[^}]+\}(:over)?(:at|:bytes)?|:\{cancels\}:[\w-]{22}|:\{(cancels|sweeps)\}:untold|:\{cancels\}:(empty|closed)|:\{sweeps\}:of:\w+:bytes|:\{sweeps\}:(sweep-[\w-]+(:lines|:doomed)?|lock:\w+)|:\{owners:\d+\}:gone:fence|:\{trips\}:(trip|driver|offers|key):.+|:\{leases\}:(lease|key):.+|:\{diagrams:\w\}:.+|:\{diagrams:of:[^}]+\}|:\{(marker|barrier)(:\d+)?\})$/;

/** Keys of ours under a prefix that should be gone, each with what is wrong. BullMQ's own keys are its own affair. */
export async function leftovers(redis: Redis, prefix: string): Promise<string[]> {
  const left: string[] = [];
  for (const key of await keysOf(redis, prefix)) {
    if (STAYS.test(key)) continue;
    if (SIGHTED.test(key)) {
      left.push(...(await unlistedIn(redis, key)));
      continue;
    }
    if (!ENDS_BY_ITSELF.test(key)) left.push(`${key} is there`);
    else if ((await redis.pttl(key)) === -1) left.push(`${key} does not expire`);
    if (RECORD.test(key)) left.push(...(await indexEntries(redis, key)));
  }
  return left.toSorted((a, b) => a.localeCompare(b));
}

/** Waits until nothing is left; what stays says what it is. */
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

async function keysOf(redis: Redis, prefix: string): Promise<string[]> {
  const found = new Set<string>();
  for await (const keys of redis.scanStream({ match: `${prefix}:*`, count: 1_000 })) {
    for (const key of keys as string[]) found.add(key);
  }
  return [...found];
}

async function indexEntries(redis: Redis, record: string): Promise<string[]> {
  const fields = await redis.hkeys(record);
  return fields.filter((field) => field.startsWith('j')).map((field) => `${record} has ${field}`);
}

async function unlistedIn(redis: Redis, gone: string): Promise<string[]> {
  const list = gone.slice(0, -':gone'.length);
  const [owners, listed] = await Promise.all([redis.hkeys(gone), redis.zrange(list, 0, '-1')]);
  return owners.filter((owner) => !listed.includes(owner)).map((owner) => `${gone} has ${owner}`);
}
