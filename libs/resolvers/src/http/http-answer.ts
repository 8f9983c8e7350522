import type { OwnerLife } from '#lifecycle';
import { z } from 'zod';
import { BadAnswerError } from './service-call.js';

const Answer = z.strictObject({
  alive: z.array(z.string()),
  gone: z.array(z.string()),
  unknown: z.array(z.string()),
});

/** The lives in a service's answer: each id that was asked in exactly one list, and no other. */
export function readLives(body: unknown, asked: readonly string[]): ReadonlyMap<string, OwnerLife> {
  const read = Answer.safeParse(body);
  if (!read.success) throw new BadAnswerError('The answer is not {"alive":[…],"gone":[…],"unknown":[…]}.');
  const expected = new Set(asked);
  const lives = new Map<string, OwnerLife>();
  for (const life of ['alive', 'gone', 'unknown'] as const) {
    for (const id of read.data[life]) {
      if (!expected.has(id)) throw new BadAnswerError('The answer speaks of an owner that was not asked.');
      if (lives.has(id)) throw new BadAnswerError('The answer has an owner twice.');
      lives.set(id, life);
    }
  }
  if (lives.size < expected.size)
    throw new BadAnswerError(`The answer speaks of ${lives.size} of ${expected.size} owners.`);
  return lives;
}
