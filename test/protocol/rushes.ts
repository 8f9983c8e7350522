import { randomUUID } from 'node:crypto';
import type { Redis } from 'ioredis';
import { OwnerCalls, unlinkOwner, type Strategy } from './owner.calls.js';
import type { ScriptRunner } from './script-runner.js';

const MAX = 10;
const RUSH = 200;

/** I38: two hundred come at once to a queue that has room for one more. */
export async function leftAfterRush(
  run: ScriptRunner,
  redis: Redis,
): Promise<{ letIn: number; waiting: number }> {
  const key = `protocol:{queue:${randomUUID()}}`;
  try {
    await run('depth', [key], [MAX - 1, MAX]);
    const answers = await Promise.all(Array.from({ length: RUSH }, () => run('depth', [key], [1, MAX])));
    const letIn = (answers as [number, number][]).reduce((sum, [one]) => sum + one, 0);
    return { letIn, waiting: Number(await redis.hget(key, 'n')) };
  } finally {
    await redis.unlink(key);
  }
}

/** I10: fifty come at once with the same key, by several connections; what they were answered, counted. */
export async function answersToRush(
  runs: readonly ScriptRunner[],
  redis: Redis,
  strategy: Strategy,
): Promise<Record<string, number>> {
  const record = `protocol:{${randomUUID()}}`;
  const owners = runs.map((run) => new OwnerCalls(run, record));
  try {
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, i) => {
        const call = { job: `job-${i}`, strategy, key: 'key', payload: `payload-${i}` };
        return owners[i % owners.length]!.reserve(1_900_000_000_000, call);
      }),
    );
    const counts: Record<string, number> = {};
    for (const [word] of answers) counts[word!] = (counts[word!] ?? 0) + 1;
    counts['jobs'] = (await redis.hkeys(record)).filter((field) => field.startsWith('j')).length;
    return counts;
  } finally {
    await unlinkOwner(redis, owners[0]!.record);
  }
}
