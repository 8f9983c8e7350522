import fc from 'fast-check';
import { randomUUID } from 'node:crypto';
import type { Redis } from 'ioredis';
import type { ScriptRunner } from './script-runner.js';
import { hold, violationOf } from './violation.js';

const MAX = 10;

export const depthChanges: fc.Arbitrary<number[]> = fc.array(fc.integer({ min: -8, max: 8 }), {
  minLength: 1,
  maxLength: 30,
});

/** I38: what comes to a queue and leaves it; reports a limit that did not hold, and a count below nothing. */
export async function countAs(
  run: ScriptRunner,
  redis: Redis,
  changes: readonly number[],
): Promise<string | undefined> {
  const key = `protocol:{queue:${randomUUID()}}`;
  let waiting = 0;
  try {
    return await violationOf(async () => {
      for (const change of changes) {
        // What comes back is let in beyond the limit.
        const max = change % 3 === 0 ? '' : MAX;
        const letIn = change > 0 && max !== '' ? Math.max(0, Math.min(change, max - waiting)) : change;
        waiting = Math.max(0, waiting + letIn);
        const answer = (await run('depth', [key], [change, max])) as number[];
        const stored = Number(await redis.hget(key, 'n'));
        const seen = [...answer, stored].join(' ');
        const expected = [letIn, waiting, waiting].join(' ');
        hold('I38', seen === expected, () => `${change} with limit ${max} makes ${seen}, not ${expected}`);
      }
    });
  } finally {
    await redis.unlink(key);
  }
}
