import type { Receipt } from '#core';
import { Journal, StoreUnavailableError } from '#nestjs';
import type { OwnerCancel } from '#workload-kit';
import { Logger } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { until } from '../../../../test/support/until.js';
import type { TripCancelIds } from './trip-cancel-ids.js';
import { TripOverError, UnknownTripError } from './trip-errors.js';
import { TripCancelFollower } from './trip-cancel-follower.js';
import type { Trips } from './trips.service.js';

describe('a trip whose owner is cancelled', () => {
  const id = randomUUID();
  let journal: Journal;
  let followers: TripCancelFollower;
  let asked: string[];
  let answer: () => Promise<unknown>;
  beforeEach(() => {
    vi.spyOn(Logger.prototype, 'warn').mockReturnValue(undefined);
    asked = [];
    answer = () => Promise.resolve();
    journal = new Journal({ connection: {}, listeners: [] });
    const cancel = (trip: string, reason: string): Promise<unknown> => {
      asked.push(`${trip}: ${reason}`);
      return answer();
    };
    const leaveIfClosed = (driverId: string): Promise<unknown> => {
      asked.push(`driver ${driverId}`);
      return answer();
    };
    const has = (_id: string, cancelId: string): Promise<boolean> => Promise.resolve(cancelId === 'own');
    const own = { has } as unknown as TripCancelIds;
    followers = new TripCancelFollower(journal, { cancel, leaveIfClosed } as unknown as Trips, own);
    followers.onModuleInit();
  });
  afterEach(() => void vi.restoreAllMocks());

  const say = (more: Partial<Receipt> & { jobOnly?: true } = {}): void => {
    const receipt = { cancelId: 'c', owner: `trip:${id}`, reason: 'off', by: 'shop', byQueue: {}, at: 0 };
    journal.tell({ event: 'owner.cancelled', ...receipt, ...more } as OwnerCancel);
  };

  it('is cancelled, except by its own cancels, by the orphan sweep, for a single job, or for a foreign id', async () => {
    say({ by: 'trips', cancelId: 'own' });
    say({ by: 'janitor', cancelId: 'orphan-1' });
    say({ jobOnly: true });
    say({ owner: 'trip:42' });
    say({ owner: `ride:${id}` });
    say();
    await followers.beforeApplicationShutdown();
    expect(asked).toEqual([`${id}: off`]);
  });

  it('is cancelled by another caller that is also named trips', async () => {
    say({ by: 'trips', cancelId: `trip-${id}-ACCEPTED` });
    await followers.beforeApplicationShutdown();
    expect(asked).toHaveLength(1);
  });

  it('is cancelled once the store is back', async () => {
    let fails = 2;
    answer = () =>
      (fails -= 1) >= 0 ? Promise.reject(new StoreUnavailableError('away')) : Promise.resolve();
    say();
    await until(() => asked.length === 3, 'it is tried until it is done');
    await followers.beforeApplicationShutdown();
    expect(asked).toHaveLength(3);
  });

  it('takes a driver offline once the store is back', async () => {
    let fails = 1;
    answer = () =>
      (fails -= 1) >= 0 ? Promise.reject(new StoreUnavailableError('away')) : Promise.resolve();
    say({ owner: 'driver:ann' });
    say({ owner: 'driver:ann', jobOnly: true });
    await until(() => asked.length === 2, 'it is tried until it is done');
    await followers.beforeApplicationShutdown();
    expect(asked).toEqual(['driver ann', 'driver ann']);
  });

  it('is left alone when it is over or unknown', async () => {
    for (const error of [new UnknownTripError(), new TripOverError('EXPIRED')]) {
      answer = () => Promise.reject(error);
      say();
    }
    await followers.beforeApplicationShutdown();
    expect(asked).toHaveLength(2);
  });

  it('is tried once more during shutdown, which waits for it', async () => {
    answer = () => Promise.reject(new StoreUnavailableError('away'));
    say();
    await until(() => asked.length === 1, 'it is tried');
    let isDone = false;
    answer = async () => {
      await new Promise((resolve) => setImmediate(resolve));
      isDone = true;
    };
    await followers.beforeApplicationShutdown();
    expect({ isDone, tries: asked.length }).toEqual({ isDone: true, tries: 2 });
  });
});
