import type { OwnerLife } from '#nestjs';
import { z } from 'zod';

const Answer = z.strictObject({
  alive: z.array(z.string()),
  gone: z.array(z.string()),
  unknown: z.array(z.string()),
});

/** Reads a service's answer. Every requested id must be in exactly one list, and no other id in any. */
export function readLives(body: unknown, asked: readonly string[]): ReadonlyMap<string, OwnerLife> {
  const read = Answer.safeParse(body);
  if (!read.success) throw new Error('The answer is not {"alive":[…],"gone":[…],"unknown":[…]}.');
  const expected = new Set(asked);
  const lives = new Map<string, OwnerLife>();
  for (const life of ['alive', 'gone', 'unknown'] as const) {
    for (const id of read.data[life]) {
      if (!expected.has(id)) throw new Error('The answer contains an owner that was not requested.');
      if (lives.has(id)) throw new Error('The answer contains an owner twice.');
      lives.set(id, life);
    }
  }
  if (lives.size < expected.size)
    throw new Error(`The answer covers ${lives.size} of ${expected.size} owners.`);
  return lives;
}
