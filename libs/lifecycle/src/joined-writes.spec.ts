import { Redis } from 'ioredis';
import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { Proxy } from '../../../test/support/proxy.js';

import { joinWrites } from './joined-writes.js';

describe('writes of one turn of the event loop', () => {
  let proxy: Proxy;
  let redis: Redis;

  beforeEach(async () => {
    proxy = await Proxy.start(inject('storeUrl'));
    redis = new Redis(proxy.url, { maxRetriesPerRequest: null });
    await redis.ping();
    joinWrites(redis, 100);
  });

  afterEach(async () => {
    redis.disconnect();
    await proxy.stop();
  });

  it('reach the store so many together, in their order', async () => {
    expect(await writesOf(200)).toBeLessThanOrEqual(2);
  });

  it('do so on the next connection too, when one was lost', async () => {
    const lost = proxy.next('cut', /PING/i);
    const back = once(redis, 'ready');
    const pong = redis.ping();
    await Promise.all([lost, back, pong]);
    expect(await writesOf(200)).toBeLessThanOrEqual(2);
  });

  it('reach the store also when the connection is ended in the same turn', async () => {
    const answers = Promise.all([redis.echo('a'), redis.quit()]);
    expect(await answers).toEqual(['a', 'OK']);
  });

  async function writesOf(commands: number): Promise<number> {
    const before = proxy.sent;
    const texts = Array.from({ length: commands }, (_, i) => String(i));
    expect(await Promise.all(texts.map((text) => redis.echo(text)))).toEqual(texts);
    return proxy.sent - before;
  }
});
