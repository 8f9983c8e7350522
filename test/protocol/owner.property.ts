import { unlinkOwner } from './owner.calls.js';
import fc from 'fast-check';
import { randomUUID } from 'node:crypto';
import type { Redis } from 'ioredis';
import type { ScriptRunner } from './script-runner.js';
import { violationOf } from './violation.js';
import { WEIGHTED, World, type Step } from './world.js';

export const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.record({
    what: fc.constantFrom(...WEIGHTED),
    pick: fc.nat(10_000),
    isLost: fc.integer({ min: 0, max: 4 }).map((n) => n === 0),
  }),
  { minLength: 1, maxLength: 100, size: 'max' },
);

/** The life of one owner, never seen before; reports the first invariant that did not hold. */
export async function liveAs(
  run: ScriptRunner,
  redis: Redis,
  life: readonly Step[],
): Promise<string | undefined> {
  const record = `protocol:{${randomUUID()}}`;
  const world = new World(run, redis, record);
  try {
    return await violationOf(() => world.live(life));
  } finally {
    await unlinkOwner(redis, record);
  }
}
