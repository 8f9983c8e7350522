import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CoreKit, until } from '../../../../test/support/core-kit.js';

const LONG_MS = 600_000;

describe('a failed job that waits for its retry', () => {
  let kit: CoreKit;
  let ran: string[];

  beforeEach(() => {
    kit = new CoreKit();
    ran = [];
    kit.worker(async ({ data, attemptsMade }) => {
      ran.push(data.version);
      if (data.version === 'first' && attemptsMade === 0) throw new Error('once more');
    });
  });

  afterEach(() => kit.stop());

  it.each([
    ['skip', 'skipped', 'first'],
    ['coalesce', 'coalesced', 'second'],
    ['replace', 'replaced', 'second'],
  ] as const)('is joined by the triggers of its key: %s', async (strategy, outcome, runsNext) => {
    const queue = kit.queue();
    const opts = { owners: ['site:1'], dedup: { strategy, key: 'build' } };
    const retried = { ...opts, attempts: 2, backoff: LONG_MS };
    const { id } = await queue.enqueue('build', { version: 'first' }, retried);
    await until(async () => (await queue.getDelayedCount()) === 1, 'it waits for its second attempt');

    const ticket = await queue.enqueue('build', { version: 'second' }, opts);

    expect(ticket.outcome).toBe(outcome);
    // The others do not wait for the backoff, because the new trigger has no delay.
    if (strategy === 'skip') await (await queue.getJob(id))!.promote();
    await until(async () => (await queue.getCompletedCount()) === 1, 'a run began after the trigger');
    expect(ran).toEqual(['first', runsNext]);
    await kit.nothingLeft();
  });

  it('expires like any other job at its deadline', async () => {
    const queue = kit.queue();
    const opts = { owners: ['site:1'], attempts: 2, backoff: LONG_MS, expiresIn: '1s' };
    const { id } = await queue.add('build', { version: 'first' }, opts);
    await until(async () => (await queue.getDelayedCount()) === 1, 'it waits for its second attempt');
    const startBy = Number(await kit.redis.zscore(`${kit.prefix}~deadlines`, `audio:${id}`));
    await until(() => Date.now() > startBy, 'its time to start is over');

    await (await queue.getJob(id!))!.promote();

    await until(async () => (await queue.getJob(id!)) === undefined, 'it is gone');
    expect(ran).toEqual(['first']);
    await kit.nothingLeft();
  });
});
