import { createLog } from '#runtime';
import { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { connectStore, type StoreConnection } from './connect.js';
import { within } from '../time/within.js';

const LIMIT_MS = 1_200;

/** As if the machine had let other processes run for this time. */
function stall(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

describe('a process that did not run for longer than a command may take', () => {
  let redis: StoreConnection;
  let other: Redis;
  beforeEach(async () => {
    const log = createLog('test', { LOG_LEVEL: 'silent' });
    redis = connectStore({ via: 'url', url: inject('storeUrl') }, log, true);
    other = new Redis(inject('storeUrl'));
    await new Promise((resolve) => redis.once('ready', resolve));
  });
  afterEach(() => {
    redis.disconnect();
    other.disconnect();
  });

  it('has the answers that came meanwhile', async () => {
    const answers = Promise.all([redis.ping(), redis.pipeline().ping().exec()]);
    // The commands leave at the end of this turn of the event loop.
    await new Promise((resolve) => setImmediate(resolve));
    stall(LIMIT_MS + 200);
    expect(await answers).toEqual(['PONG', [[null, 'PONG']]]);
  });

  it('waits no longer than that for a store that does not answer', async () => {
    await other.client('PAUSE', LIMIT_MS + 1_000, 'ALL');
    const began = performance.now();
    await expect(redis.ping()).rejects.toThrow('Command timed out');
    expect(performance.now() - began).toBeGreaterThan(LIMIT_MS - 50);
    await other.ping();
  });

  it('gives a wait the answer that came meanwhile', async () => {
    const answer = within(100, redis.ping(), 'late');
    await new Promise((resolve) => setImmediate(resolve));
    stall(300);
    expect(await answer).toBe('PONG');
  });
});
