import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CoreKit, until } from '../../../../test/support/core-kit.js';

const TEN = 10;

describe('the rate of a slot', () => {
  let kit: CoreKit;
  let began: { name: string; at: number; fetchedAt: number }[];

  beforeEach(() => {
    kit = new CoreKit();
    began = [];
  });

  afterEach(() => kit.stop());

  const rated = (max: number, per: string, limit = TEN, owner = 'track:1') => ({
    owners: [owner],
    slot: { key: 'mail', limit, rate: { max, per } },
  });

  function work(concurrency = 5) {
    return kit.worker(
      async ({ name, processedOn }) => {
        began.push({ name, at: Date.now(), fetchedAt: processedOn! });
      },
      { concurrency },
    );
  }

  const names = () => began.map(({ name }) => name);

  it('lets `max` jobs start at once, and one more with each token, in order', async () => {
    const queue = kit.queue();
    for (let n = 0; n < 6; n += 1) await queue.add(String(n), {}, rated(2, '200ms'));

    work();

    await until(() => began.length === 6, 'all have begun');
    expect(names().slice(2)).toEqual(['2', '3', '4', '5']);
    // Two tokens at once, four more at 100 ms each. The clocks of the two processes are read at different moments.
    expect(began[5]!.at - began[0]!.fetchedAt).toBeGreaterThanOrEqual(400 - 15);
    await kit.nothingLeft();
  });

  it('puts a job without a token in line: no attempt, no worker, and a line in its timeline', async () => {
    const queue = kit.queue();
    const worker = work();
    await queue.add('first', {}, rated(1, '1h'));
    await until(() => began.length === 1, 'the first has begun');
    const second = await queue.add('second', {}, rated(1, '1h'));
    const third = await queue.add('third', {}, rated(1, '1h'));
    await queue.add('other', {}, { owners: ['track:2'] });

    await until(() => names().includes('other'), 'another job runs meanwhile');

    const [slots] = [kit.slots()];
    expect(await slots.get('mail')).toMatchObject({
      limit: TEN,
      rate: { max: 1, per: 3_600_000 },
      holding: 0,
      waiting: 2,
      line: [{ id: second.id }, { id: third.id }],
    });
    expect((await slots.get('mail'))!.tokenInMs).toBeGreaterThan(3_500_000);
    expect(await second.getState()).toBe('delayed');
    expect(await queue.getJob(second.id!)).toMatchObject({ attemptsMade: 0, attemptsStarted: 0 });
    // It sleeps until there is a token, and the one behind it longer: neither comes to a worker before.
    const due = await kit.redis.zrange(`${kit.prefix}:audio:delayed`, '0', '-1');
    expect(due).toEqual([second.id, third.id]);
    expect((await queue.getJob(second.id!))!.delay).toBeGreaterThan(3_500_000);
    await worker.close();
    await kit.owners.cancel('track:1', { close: false });
    await kit.nothingLeft();
    expect(await kit.redis.exists(`${kit.prefix}~due`, `${kit.prefix}~line~mail`)).toBe(0);
  });

  it('wakes the next in line when the first one is cancelled, and an idle worker at its token', async () => {
    const queue = kit.queue();
    work();
    await queue.add('first', {}, rated(1, '300ms', TEN, 'track:9'));
    await until(() => began.length === 1, 'the first has begun');
    await queue.add('gone', {}, rated(1, '300ms'));
    await queue.add('next', {}, rated(1, '300ms', TEN, 'track:2'));
    await until(async () => (await kit.slots().get('mail'))?.waiting === 2, 'two wait');

    await kit.owners.cancel('track:1', { close: false });

    await until(() => began.length === 2, 'the next one runs');
    expect(names()).toEqual(['first', 'next']);
    expect(began[1]!.at - began[0]!.fetchedAt).toBeGreaterThanOrEqual(300 - 15);
    expect(began[1]!.at - began[0]!.at).toBeLessThan(3_000);
    await kit.nothingLeft();
  });

  it('goes together with the limit: a token is taken only with a slot', async () => {
    const queue = kit.queue();
    let release!: () => void;
    const released = new Promise<void>((resolve) => (release = resolve));
    kit.worker(
      async ({ name, processedOn }) => {
        began.push({ name, at: Date.now(), fetchedAt: processedOn! });
        await released;
      },
      { concurrency: 5 },
    );
    for (const name of ['1', '2', '3']) await queue.add(name, {}, rated(3, '1h', 2));

    await until(async () => (await kit.slots().get('mail'))?.waiting === 1, 'the third waits for a slot');
    expect(await kit.slots().get('mail')).toMatchObject({ holding: 2, tokenInMs: 0 });

    release();
    await until(() => began.length === 3, 'it has got the last token');
    await until(async () => (await queue.getCompletedCount()) === 3, 'all completed');
    expect((await kit.slots().get('mail'))!.tokenInMs).toBeGreaterThan(1_000_000);
    await kit.nothingLeft();
  });

  it('is let in front of the jobs that came before its token', async () => {
    const queue = kit.queue();
    await queue.add('first', {}, rated(1, '1s'));
    await queue.add('second', {}, rated(1, '1s'));
    const worker = kit.worker(null as never, { autorun: false });
    const next = async () => {
      const job = await worker.getNextJob('token', { block: false });
      await job?.moveToCompleted('', 'token', false);
      return job?.name;
    };
    expect(await next()).toBe('first');
    expect(await next()).toBeUndefined();
    for (let n = 0; n < 20; n += 1) await queue.add('later', {}, { owners: ['track:2'] });
    await until(async () => (await kit.slots().get('mail'))!.tokenInMs === 0, 'there is a token');

    expect(await next()).toBe('second');
    expect(await next()).toBe('later');
    await kit.owners.cancel('track:2', { close: false });
    await kit.nothingLeft();
  });

  it('belongs to the key; an operator changes it or takes it away', async () => {
    const queue = kit.queue();
    const slots = kit.slots();
    await queue.add('1', {}, rated(1, '1h'));
    await expect(queue.add('x', {}, rated(2, '1h'))).rejects.toMatchObject({
      code: 'SLOT_LIMIT',
      limit: TEN,
      rate: { max: 1, per: 3_600_000 },
    });
    const plain = { owners: ['track:1'], slot: { key: 'mail', limit: TEN } };
    await queue.add('2', {}, plain);
    await queue.add('3', {}, rated(1, '1h'));
    work();
    await until(async () => (await slots.get('mail'))?.waiting === 2, 'those that name no rate wait too');

    await slots.setRate('mail', { max: 2, per: '1h' });
    expect((await slots.get('mail'))!.rate).toEqual({ max: 2, per: 3_600_000 });
    await slots.setRate('mail', null);

    await until(() => began.length === 3, 'all have begun');
    await queue.add('4', {}, rated(1, '1h'));
    await until(() => began.length === 4, 'one that names the old rate is accepted, and runs at once');
    expect(await slots.get('mail')).not.toHaveProperty('rate');
    await kit.nothingLeft();
  });

  it('sets no more keys than expire', async () => {
    const queue = kit.queue();
    await queue.add('1', {}, rated(1, '10ms'));
    work();
    await until(async () => (await queue.getCompletedCount()) === 1, 'it has completed');
    await kit.nothingLeft();

    const keys = await kit.redis.keys(`${kit.prefix}~*`);
    const lasting = [];
    for (const key of keys)
      if ((await kit.redis.pttl(key)) === -1) lasting.push(key.slice(kit.prefix.length));
    expect(
      lasting.filter((key) => !key.startsWith('~owners~') && !['~cancelled', '~partitions'].includes(key)),
    ).toEqual([]);
    expect(await kit.redis.pttl(`${kit.prefix}~rate~mail`)).toBeGreaterThan(7 * 86_400_000);
  });

  it.each([
    ['a max below 1', { max: 0, per: '1s' }],
    ['a max that is not a whole number', { max: 1.5, per: '1s' }],
    ['a time without a unit', { max: 1, per: '1' }],
    ['no time', { max: 1, per: 0 }],
    ['more than a day', { max: 1, per: '2d' }],
  ])('refuses %s', async (_, rate) => {
    const opts = { owners: ['track:1'], slot: { key: 'mail', limit: 1, rate } };
    await expect(kit.queue().add('x', {}, opts)).rejects.toMatchObject({ code: 'INVALID' });
  });
});
