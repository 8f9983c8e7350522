import { Redis } from 'ioredis';
import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { leftovers } from '../../../../test/support/leftovers.js';
import { Keys } from '../keys.js';
import { runScript } from '../scripts.js';
import { Endings } from './endings.js';

const LEASE_MS = 60_000;

describe('the endings of a job', () => {
  const prefix = `test-${randomBytes(6).toString('hex')}`;
  const record = new Keys(prefix).ownerText('trip:42');
  let redis: Redis;
  let endings: Endings;
  let epoch: string;

  beforeEach(async () => {
    redis = new Redis(inject('storeUrl'), { maxRetriesPerRequest: null });
    endings = new Endings({ redis, prefix });
    const [[, given]] = (await runScript(
      redis,
      'reserve',
      [record],
      ['', 'trip:42', 'q-1', '', '', '', '', ''],
    )) as [[string, string]];
    epoch = given;
    await runScript(redis, 'begin', [record], ['', 'q-1', 'run', epoch, '', LEASE_MS, '', 1]);
  });
  afterEach(async () => {
    for (const key of await redis.keys(`${prefix}:*`)) await redis.del(key);
    await redis.quit();
  });

  it('leave nothing of a job that was given up, though the lease of its last run, whose worker died, still holds', async () => {
    await endings.forget({ jobId: 'q-1', records: [record], dedup: '' });
    expect(await leftovers(redis, prefix)).toEqual([]);
  });

  it('leave a job in its index while a run holds it that is not the one that ends', async () => {
    await endings.end({ jobId: 'q-1', token: '', leaves: true, records: [record], dedup: '' });
    expect(await leftovers(redis, prefix)).toEqual([
      `${record} does not expire`,
      `${record} has jq-1`,
      `${record}:runs is there`,
    ]);
  });

  it('take nothing from a later life of the same id, whether or not it has begun', async () => {
    await runScript(redis, 'reserve', [record], ['', 'trip:42', 'q-2', '', '', '', '', '']);
    const before = { records: [record], epochs: [String(Number(epoch) - 1)], dedup: '' };
    await endings.forget({ ...before, jobId: 'q-1' });
    await endings.end({ ...before, jobId: 'q-2', token: '', leaves: true });
    expect(await redis.zrange(`${record}:runs`, '0', '-1')).toEqual(['q-1|run']);
    expect(await redis.hmget(record, 'jq-1', 'jq-2')).toEqual([
      expect.stringMatching(`^${epoch}`),
      expect.stringMatching(`^${epoch}`),
    ]);
  });
});
