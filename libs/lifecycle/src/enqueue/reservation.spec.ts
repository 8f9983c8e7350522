import { Redis } from 'ioredis';
import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { z } from 'zod';
import { cancelByScript, recordOf } from '../../../../test/support/cancel-door.js';
import { OwnerMovedError } from '../errors.js';
import { defineKind, type DedupOptions } from '../kinds/kind.js';
import { parseOwner } from '../kinds/owner.js';
import { Endings } from '../settle/endings.js';
import { readRequest, type JobRequest } from './request.js';
import { Reservations } from './reservation.js';

const kind = defineKind({ name: 'a.kind', queue: 'q', payload: z.any(), maxPerOwner: 1 });

describe('the places of a job with its owners', () => {
  const prefix = `test-${randomBytes(6).toString('hex')}`;
  let redis: Redis;
  let reservations: Reservations;

  beforeEach(() => {
    redis = new Redis(inject('storeUrl'), { maxRetriesPerRequest: null });
    reservations = new Reservations({ redis, prefix }, new Endings({ redis, prefix }));
  });
  afterEach(async () => {
    for (const key of await redis.keys(`${prefix}:*`)) await redis.del(key);
    await redis.quit();
  });

  const aRequest = (owners: readonly string[], strategy: DedupOptions['strategy'] = 'none'): JobRequest =>
    readRequest(kind, 'new', { owners: owners.map(parseOwner), dedup: { strategy } }, 100);
  const jobsOf = async (owner: string): Promise<string[]> =>
    (await redis.hkeys(recordOf(prefix, owner))).filter((field) => field.startsWith('j'));

  it('are given while each owner has the epoch that is expected', async () => {
    const owners = ['trip:1', 'driver:1'];
    const { epochs } = await reservations.reserve(aRequest(owners), 'q-1');
    await reservations.giveUp(aRequest(owners), 'q-1');

    expect(await reservations.reserve(aRequest(owners), 'q-2', epochs)).toMatchObject({
      outcome: 'new',
      epochs,
    });
    expect([await jobsOf('trip:1'), await jobsOf('driver:1')]).toEqual([['jq-2'], ['jq-2']]);
  });

  it.each([
    ['its primary owner', 'trip:1'],
    ['a further owner', 'driver:1'],
  ])('are refused when %s was cancelled since, and none stays', async (_, cancelled) => {
    const owners = ['trip:1', 'driver:1'];
    const { epochs } = await reservations.reserve(aRequest(owners), 'q-1');
    await reservations.giveUp(aRequest(owners), 'q-1');
    await cancelByScript(redis, prefix, cancelled);

    await expect(reservations.reserve(aRequest(owners), 'q-2', epochs)).rejects.toThrow(
      new OwnerMovedError(cancelled),
    );
    expect([await jobsOf('trip:1'), await jobsOf('driver:1')]).toEqual([[], []]);
    // Whoever does not expect it only of the other one, gets what there is.
    const some = epochs.map((epoch, i) => (owners[i] === cancelled ? undefined : epoch));
    expect(await reservations.reserve(aRequest(owners), 'q-2', some)).toMatchObject({ outcome: 'new' });
  });
});
