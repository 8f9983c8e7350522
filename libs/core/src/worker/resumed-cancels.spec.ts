import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CoreKit, until, untilStopped } from '../../../../test/support/core-kit.js';

const LOOKS_OFTEN = { stalledInterval: 100 };

describe('a cancel that is not done', () => {
  let kit: CoreKit;

  beforeEach(() => {
    kit = new CoreKit();
  });

  afterEach(() => kit.stop());

  it('is finished by any worker when its process was killed', async () => {
    const queue = kit.queue();
    await queue.add('x', {}, { owners: ['track:1'], delay: 600_000 });
    await kit.cancelAndDie('track:1', 'c-1');

    kit.worker(async () => undefined, { ...LOOKS_OFTEN, queue: 'video' });

    await until(async () => (await kit.owners.receipt('c-1'))?.done, 'it is done');
    expect(await queue.getDelayedCount()).toBe(0);
  });

  it('is done when its runs have ended, even if the owner was cancelled again in the meantime', async () => {
    kit.worker(untilStopped, LOOKS_OFTEN);
    const queue = kit.queue();
    await queue.add('x', {}, { owners: ['track:1'] });
    await until(async () => (await queue.getActiveCount()) === 1, 'it runs');

    for (const cancelId of ['c-1', 'c-2']) await kit.owners.cancel('track:1', { cancelId, close: false });
    await queue.add('later', {}, { owners: ['track:1'], delay: 600_000 });

    await until(async () => (await kit.owners.openReceipts()).length === 0, 'both are done');
    expect(await kit.owners.receipt('c-1')).toMatchObject({ done: true, aborted: 1, acknowledged: 1 });
    await kit.owners.cancel('track:1', { close: false });
    await kit.nothingLeft();
  });
});
