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
import { Journal } from '../journal.js';
import { Store } from '../store.js';
import { OwnerDirectory } from '../sweep/owner.directory.js';
import { Reservations } from './reservation.js';

const kind = defineKind({ name: 'a.kind', queue: 'q', payload: z.any(), maxPerOwner: 2 });

describe('the places of a job with its owners', () => {
  const prefix = `test-${randomBytes(6).toString('hex')}`;
  let redis: Redis;
  let reservations: Reservations;

  beforeEach(() => {
    redis = new Redis(inject('storeUrl'), { maxRetriesPerRequest: null });
    const options = { redis, prefix };
    const directory = new OwnerDirectory(options, new Store(options), new Journal(options));
    reservations = new Reservations(options, new Endings(options), directory);
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

  describe('when it would replace another', () => {
    const twin = 'q-twin';
    const replaces = (): JobRequest => aRequest(['trip:1', 'driver:1', 'site:1'], 'replace');
    const fill = async (owner: string, ...jobs: string[]): Promise<void> => {
      for (const job of jobs) await reservations.reserve(aRequest([owner]), job);
    };
    beforeEach(() => reservations.reserve(replaces(), twin));

    it('take its place', async () => {
      expect(await reservations.reserve(replaces(), 'q-new')).toMatchObject({
        outcome: 'replace',
        twin,
        epochs: [expect.any(String), expect.any(String), expect.any(String)],
      });
      expect(await reservations.isPending(replaces(), 'q-new')).toBe(true);
    });

    it.each([
      ['closed', 'OWNER_CLOSED', () => cancelByScript(redis, prefix, 'site:1', { close: true })],
      ['full', 'QUEUE_FULL', () => fill('site:1', 'q-1')],
    ])('are refused by a further owner that is %s, and the other stays pending', async (_, code, prepare) => {
      await prepare();
      const before = await jobsOf('site:1');
      const request = replaces();

      await expect(reservations.reserve(request, 'q-new')).rejects.toMatchObject({ code });
      expect(await reservations.isPending(request, twin)).toBe(true);
      expect([await jobsOf('trip:1'), await jobsOf('driver:1'), await jobsOf('site:1')]).toEqual([
        [`j${twin}`],
        [`j${twin}`],
        before,
      ]);
    });

    it('are given up with the others when its primary refuses', async () => {
      await fill('trip:1', 'q-1');
      const request = replaces();
      await expect(reservations.reserve(request, 'q-new')).rejects.toMatchObject({ code: 'QUEUE_FULL' });
      expect(await reservations.isPending(request, twin)).toBe(true);
      expect(await jobsOf('site:1')).toEqual([`j${twin}`]);
    });

    it('stay with an earlier call of the same job that has them already', async () => {
      const request = replaces();
      await reservations.reserve(request, 'q-new');
      await cancelByScript(redis, prefix, 'trip:1', { close: true });

      await expect(reservations.reserve(request, 'q-new')).rejects.toMatchObject({ code: 'OWNER_CLOSED' });
      expect(await jobsOf('site:1')).toEqual([`j${twin}`, 'jq-new']);
    });
  });
});
