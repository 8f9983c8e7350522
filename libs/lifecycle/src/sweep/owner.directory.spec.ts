import { Redis } from 'ioredis';
import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { until } from '../../../../test/support/until.js';
import { Journal } from '../journal.js';
import { runScript } from '../scripts.js';
import { Store } from '../store.js';
import { OwnerDirectory } from './owner.directory.js';

const idle = (): Promise<boolean> => Promise.resolve(true);

describe('the list of owners that have jobs', () => {
  const prefix = `test-${randomBytes(6).toString('hex')}`;
  let redis: Redis;
  beforeEach(() => (redis = new Redis(inject('storeUrl'), { maxRetriesPerRequest: null })));
  afterEach(async () => {
    for (const key of await redis.keys(`${prefix}:*`)) await redis.del(key);
    await redis.quit();
  });

  /** Of a process of its own, which has listed nobody yet. */
  const aDirectory = (): OwnerDirectory => {
    const options = { redis, prefix };
    return new OwnerDirectory(options, new Store(options), new Journal(options));
  };
  async function list(directory: OwnerDirectory, ...owners: string[]): Promise<void> {
    for (const owner of owners) directory.note(owner);
    await until(async () => (await directory.size()) >= owners.length, 'they are listed');
  }
  async function allOf(directory: OwnerDirectory, limit: number): Promise<string[]> {
    const all: string[] = [];
    for (let from; ;) {
      const { owners, next } = await directory.page(from, limit);
      expect(owners.length).toBeLessThanOrEqual(limit);
      all.push(...owners);
      if (!next) return all;
      from = next;
    }
  }

  it.each([1, 7, 50, 200])('is read in pages of %i, each owner once', async (limit) => {
    const directory = aDirectory();
    const owners = Array.from({ length: 50 }, (_, i) => `trip:${i}`);
    await list(directory, ...owners);
    const found = await allOf(directory, limit);
    expect(found.toSorted()).toEqual(owners.toSorted());
  });

  it('is not written again for an owner that was listed lately', async () => {
    const directory = aDirectory();
    await list(directory, 'trip:1');
    await redis.del(directory.shardOf('trip:1'));
    directory.note('trip:1');
    directory.note('trip:2');
    await until(async () => (await redis.zcard(directory.shardOf('trip:2'))) === 1, 'the other is listed');
    expect(await redis.zscore(directory.shardOf('trip:1'), 'trip:1')).toBeNull();
  });

  it('is written again when that failed', async () => {
    const directory = aDirectory();
    await redis.set(directory.shardOf('trip:1'), 'of another type');
    directory.note('trip:1');
    await until(async () => {
      await redis.del(directory.shardOf('trip:1'));
      directory.note('trip:1');
      return (await redis.zcard(directory.shardOf('trip:1'))) === 1;
    }, 'it is listed after all');
  });

  it('loses an owner that has no jobs', async () => {
    const directory = aDirectory();
    await list(directory, 'trip:1', 'trip:2');
    await directory.strike(['trip:1'], idle);
    expect(await allOf(directory, 10)).toEqual(['trip:2']);
    expect(await redis.keys(`${prefix}:*:leaving`)).toEqual([]);
  });

  it('keeps one that turns out to have jobs, and forgets that it was to leave', async () => {
    const directory = aDirectory();
    await list(directory, 'trip:1');
    await directory.strike(['trip:1'], () => Promise.resolve(false));
    expect(await allOf(directory, 10)).toEqual(['trip:1']);
    expect(await redis.exists(`${directory.shardOf('trip:1')}:leaving`)).toBe(0);
  });

  it('keeps one that another process lists between the last look and the strike', async () => {
    const directory = aDirectory();
    await list(directory, 'trip:1');
    await directory.strike(['trip:1'], async () => {
      // It had no jobs when it was looked at; now it gets one.
      await runScript(redis, 'list', [directory.shardOf('trip:1')], ['trip:1']);
      return true;
    });
    expect(await allOf(directory, 10)).toEqual(['trip:1']);
  });

  it('keeps one that got a job after the look of one who strikes, though another begins to strike', async () => {
    const directory = aDirectory();
    await list(directory, 'trip:1');
    await directory.strike(['trip:1'], async () => {
      await runScript(redis, 'list', [directory.shardOf('trip:1')], ['trip:1']);
      // The other looks for jobs only after this, and finds them.
      await redis.hset(`${directory.shardOf('trip:1')}:leaving`, 'trip:1', 'the other');
      return true;
    });
    expect(await allOf(directory, 10)).toEqual(['trip:1']);
  });
});
