import { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { freePorts, HAS_SERVER, RedisServer } from '../../../../test/support/redis-server.js';
import { until } from '../../../../test/support/until.js';
import { MooredQueue } from '../index.js';

describe.runIf(HAS_SERVER)('a queue whose store does not answer while it is made', () => {
  let server: RedisServer;
  let redis: Redis;

  beforeEach(async () => {
    const [port] = await freePorts(1);
    server = await RedisServer.start(port!, { save: '""' });
    redis = new Redis(port!, { commandTimeout: 500, maxRetriesPerRequest: null, enableReadyCheck: false });
    redis.on('error', () => undefined);
    await until(() => redis.ping(), 'the store answers');
  });
  afterEach(async () => {
    redis.disconnect();
    await server.stop();
  });

  it('rejects calls until then, and takes jobs as soon as the store answers', async () => {
    server.freeze();
    const queue = new MooredQueue('audio', { connection: redis });
    const reasons: unknown[] = [];
    queue.on('error', ({ message }) => reasons.push(message));
    const add = () => queue.add('x', {}, { owners: ['track:1'] });
    await expect(add()).rejects.toThrow('Command timed out');
    await expect(add()).rejects.toThrow('Command timed out');
    server.thaw();

    await until(() => add(), 'a job is added');
    expect(await queue.getPrioritizedCount()).toBeGreaterThan(0);
    expect(reasons).toContain('Command timed out');
    expect(redis.listenerCount('close')).toBeLessThan(5);
    await queue.close();
  });
});
