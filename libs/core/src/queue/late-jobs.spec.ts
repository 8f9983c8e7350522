import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CoreKit } from '../../../../test/support/core-kit.js';

describe('a job that comes later than it was asked for', () => {
  let kit: CoreKit;

  beforeEach(() => {
    kit = new CoreKit();
  });

  afterEach(async () => {
    const kept: string[] = [];
    for (const what of ['once~*', 'ended~*', 'takes-late'])
      for (const key of await kit.redis.keys(`${kit.prefix}~${what}`)) kept.push(key);
    if (kept.length > 0) await kit.redis.del(kept);
    await kit.stop();
  });

  const add = (askedAt: number, more = {}) =>
    kit.queue().enqueue('x', {}, { owners: ['trip:0', 'trip:1'], askedAt, ...more });

  it.each([{ close: false }, { close: true }])(
    'is refused if an owner was cancelled since, whether or not it was closed (%o)',
    async ({ close }) => {
      const before = await kit.owners.takeLate();
      await kit.owners.cancel('trip:1', { close });
      await kit.owners.reopen('trip:1');
      const after = await kit.owners.takeLate();

      await expect(add(before)).rejects.toMatchObject({ code: 'OWNER_CANCELLED', owner: 'trip:1' });
      expect(await add(after)).toMatchObject({ outcome: 'created' });
      expect(await kit.queue().count()).toBe(1);
      await kit.owners.cancel('trip:1', { close: false });
    },
  );

  it('gets the answer to its first request, also when its owner was cancelled in between', async () => {
    const askedAt = await kit.owners.takeLate();
    const once = { idempotency: { key: 'row', request: 'row' } };
    const first = await add(askedAt, once);
    await kit.owners.cancel('trip:1', { close: false });

    expect(await add(askedAt, once)).toEqual({ ...first, isRepeat: true });
    expect(await kit.queue().count()).toBe(0);
  });

  it('is ended by a cancel as of the time at which that was asked for', async () => {
    const cancelledAt = await kit.owners.takeLate();
    const between = await kit.owners.takeLate();
    await kit.owners.cancel('trip:1', { close: false, askedAt: cancelledAt });
    await add(between);

    await kit.owners.cancel('trip:1', { close: false });
    await kit.owners.cancel('trip:1', { close: false, askedAt: cancelledAt });
    await expect(add(between)).rejects.toMatchObject({ code: 'OWNER_CANCELLED' });
  });

  it('reopens no owner that was cancelled since', async () => {
    const before = await kit.owners.takeLate();
    await kit.owners.cancel('trip:1');

    expect(await kit.owners.reopen('trip:1', { askedAt: before })).toMatchObject({ late: true });
    expect(await kit.owners.get('trip:1')).toMatchObject({ state: 'closed' });
    expect(await kit.owners.reopen('trip:1', { askedAt: await kit.owners.takeLate() })).not.toHaveProperty(
      'late',
    );
    expect(await kit.owners.get('trip:1')).toMatchObject({ state: 'open' });
  });

  it('has its delay and its time to start counted from then', async () => {
    const askedAt = (await kit.owners.takeLate()) - 60_000;
    const delayed = await add(askedAt, { delay: 90_000 });
    const late = await add(askedAt, { expiresIn: 30_000 });

    const due = Number(await kit.redis.zscore(`${kit.prefix}:audio:delayed`, delayed.id)) / 4_096;
    expect(Math.round((due - askedAt) / 1_000)).toBe(90);
    const refused: string[] = [];
    kit.worker(async () => undefined).on('refused', ({ id, reason }) => refused.push(`${id} ${reason}`));
    await expect.poll(() => refused, { timeout: 10_000 }).toEqual([`${late.id} expired`]);
    await kit.owners.cancel('trip:1', { close: false });
  });

  it('leaves no trace of cancels where no program adds such jobs', async () => {
    await kit.owners.cancel('trip:1', { close: false });
    expect(await kit.redis.keys(`${kit.prefix}~ended*`)).toEqual([]);
  });

  it('names a time, and owners', async () => {
    await expect(add(Number.NaN)).rejects.toMatchObject({ code: 'INVALID' });
    await expect(kit.queue().add('x', {}, { askedAt: 1 })).rejects.toMatchObject({ code: 'INVALID' });
    await expect(kit.owners.cancel('trip:1', { askedAt: -1 })).rejects.toMatchObject({ code: 'INVALID' });
  });
});
