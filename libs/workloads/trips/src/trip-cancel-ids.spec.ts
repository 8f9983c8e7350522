import type { Owner, Owners } from '#core';
import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { TripCancelIds } from './trip-cancel-ids.js';
import type { TripRepository } from './trip-repository.js';

describe('the cancel ids of a trip', () => {
  const [id, secret] = [randomUUID(), randomUUID()];
  let used: string[];
  let own: TripCancelIds;
  beforeEach(() => {
    used = [];
    const cancel = (_owner: Owner, { cancelId }: { cancelId: string }): Promise<unknown> =>
      Promise.resolve(used.push(cancelId));
    const trips = { secret: (asked: string) => Promise.resolve(asked === id ? secret : 'another') };
    own = new TripCancelIds(trips as unknown as TripRepository, { cancel } as unknown as Owners);
  });

  it('are stable for one status, differ between statuses, and reveal neither', async () => {
    for (const status of ['ACCEPTED', 'ACCEPTED', 'CANCELLED'] as const)
      await own.carryOut(id, status, 'so it is');
    expect(used[1]).toBe(used[0]);
    expect(used[2]).not.toBe(used[0]);
    expect(used.filter((one) => one.includes(secret))).toEqual([]);
    expect(used.filter((one) => one.includes('ACCEPTED'))).toEqual([]);
  });

  it('are recognised, and other ids are not', async () => {
    await own.carryOut(id, 'ACCEPTED', 'accepted');
    expect(await own.has(id, used[0]!)).toBe(true);
    expect(await own.has(id, `trip-${id}-ACCEPTED`)).toBe(false);
    expect(await own.has(randomUUID(), used[0]!)).toBe(false);
  });
});
