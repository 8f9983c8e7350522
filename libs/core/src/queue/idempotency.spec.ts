import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CoreKit } from '../../../../test/support/core-kit.js';

describe('an idempotency key', () => {
  let kit: CoreKit;

  beforeEach(() => {
    kit = new CoreKit();
  });

  afterEach(async () => {
    const remembered = await kit.redis.keys(`${kit.prefix}~once~*`);
    if (remembered.length > 0) await kit.redis.del(remembered);
    await kit.stop();
  });

  const once = (request = 'a', more = {}): object => ({
    owners: ['trip:1'],
    idempotency: { key: 'k', request },
    ...more,
  });

  it('returns the first answer for a day, whatever has happened to the job', async () => {
    const queue = kit.queue();
    const dedup = { strategy: 'replace', key: 'x' } as const;
    const pending = await queue.enqueue('x', {}, { owners: ['trip:1'], dedup });

    const first = await queue.enqueue('x', {}, once('a', { dedup }));
    await kit.owners.cancel('trip:1');
    const again = await Promise.all([1, 2, 3].map(() => kit.queue().enqueue('x', {}, once('a', { dedup }))));

    expect(first).toEqual({ outcome: 'replaced', id: first.id, replaced: pending.id });
    expect(again).toEqual([1, 2, 3].map(() => ({ ...first, isRepeat: true })));
    expect(await queue.count()).toBe(0);
    const [remembered] = await kit.redis.keys(`${kit.prefix}~once~*`);
    expect(await kit.redis.pttl(remembered!)).toBeGreaterThan(86_000_000);
  });

  it('makes one job of many simultaneous calls by several queues', async () => {
    const queues = [kit.queue(), kit.queue()];

    const tickets = await Promise.all(
      Array.from({ length: 20 }, (_, i) => queues[i % 2]!.enqueue('x', {}, once())),
    );

    expect(new Set(tickets.map(({ id, outcome }) => `${outcome} ${id}`)).size).toBe(1);
    expect(tickets.filter(({ isRepeat }) => !isRepeat)).toHaveLength(1);
    expect(await queues[0]!.count()).toBe(1);
    await kit.owners.cancel('trip:1', { close: false });
  });

  it('is refused with a different request, and can be used again after a refusal', async () => {
    const queue = kit.queue();
    await kit.owners.cancel('trip:1');
    await expect(queue.enqueue('x', {}, once())).rejects.toMatchObject({ code: 'OWNER_CLOSED' });
    await kit.owners.reopen('trip:1');

    expect(await queue.enqueue('x', {}, once('b'))).toMatchObject({ outcome: 'created' });
    await expect(queue.enqueue('x', {}, once('a'))).rejects.toMatchObject({ code: 'IDEMPOTENCY_CONFLICT' });
    expect(await queue.count()).toBe(1);
    await kit.owners.cancel('trip:1', { close: false });
  });
});
