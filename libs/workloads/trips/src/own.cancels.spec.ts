import type { Canceller, Owner } from '#lifecycle';
import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { OwnCancels } from './own.cancels.js';
import type { TripRepository } from './trips.repository.js';

describe('the cancels of a trip by itself', () => {
  const [id, secret] = [randomUUID(), randomUUID()];
  let used: string[];
  let own: OwnCancels;
  beforeEach(() => {
    used = [];
    const cancel = (_owner: Owner, { cancelId }: { cancelId: string }): Promise<unknown> =>
      Promise.resolve(used.push(cancelId));
    const trips = { secret: (asked: string) => Promise.resolve(asked === id ? secret : 'another') };
    own = new OwnCancels(trips as unknown as TripRepository, { cancel } as unknown as Canceller);
  });

  it('are the same again, and another for each end', async () => {
    for (const status of ['ACCEPTED', 'ACCEPTED', 'CANCELLED'] as const)
      await own.carryOut(id, status, 'so it is');
    expect(used[1]).toBe(used[0]);
    expect(used[2]).not.toBe(used[0]);
    expect(used.filter((one) => one.includes(secret))).toEqual([]);
    expect(used.filter((one) => one.includes('ACCEPTED'))).toEqual([]);
  });

  it('are known, and no others are', async () => {
    await own.carryOut(id, 'ACCEPTED', 'accepted');
    expect(await own.has(id, used[0]!)).toBe(true);
    expect(await own.has(id, `trip-${id}-ACCEPTED`)).toBe(false);
    expect(await own.has(randomUUID(), used[0]!)).toBe(false);
  });
});
