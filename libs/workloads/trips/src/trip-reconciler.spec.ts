import { Logger } from '@nestjs/common';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Trip } from './trip.js';
import { TripReconciler } from './trip-reconciler.js';
import type { AwayDriver, TripRepository } from './trip-repository.js';
import type { Trips } from './trips.service.js';

describe('the reconciler of trips', () => {
  beforeEach(() => void vi.spyOn(Logger.prototype, 'warn').mockReturnValue(undefined));
  afterEach(() => void vi.restoreAllMocks());

  it('handles all due trips and drivers, even when some fail', async () => {
    const done: string[] = [];
    const reconciler = reconcilerOf(done);
    expect(await reconciler.reconcileOnce()).toBe(5);
    expect(done).toEqual(['c is sent', 'd is watched', 'ann: taken back']);
  });

  it('sends no jobs for a trip whose owner was closed by another caller', async () => {
    const done: string[] = [];
    await reconcilerOf(done, 'c').reconcileOnce();
    expect(done).toContain('c is ended');
    expect(done).not.toContain('c is sent');
  });

  function reconcilerOf(done: string[], closed = ''): TripReconciler {
    const expiresAt = new Date(Date.now() + 60_000).toISOString();
    const repository = {
      due: () =>
        Promise.resolve(
          ['a', 'b', 'c', 'd'].map((id) => ({
            id,
            what: id === 'd' ? ('watch' as const) : ('tend' as const),
          })),
        ),
      away: () => Promise.resolve([{ id: 'ann', sinceMs: 1 }]),
      now: () => Promise.resolve(Date.now()),
      find: (id: string) =>
        id === 'a'
          ? Promise.reject(new Error('it has no words'))
          : Promise.resolve({ id, status: 'PENDING', expiresAt }),
    };
    const trips = {
      endClosed: (ids: string[]) => Promise.resolve(void done.push(`${ids.join(' ')} is watched`)),
      takeBack: ({ id }: AwayDriver) => Promise.resolve(void done.push(`${id}: taken back`)),
      endIfClosed: (id: string) => Promise.resolve(id === closed && done.push(`${id} is ended`) > 0),
      send: ({ id }: Trip) =>
        id === 'b' ? Promise.reject(new Error('too many')) : Promise.resolve(done.push(`${id} is sent`)),
    };
    return new TripReconciler(repository as unknown as TripRepository, trips as unknown as Trips);
  }
});
