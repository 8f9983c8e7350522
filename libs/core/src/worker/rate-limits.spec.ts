import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CoreKit, until } from '../../../../test/support/core-kit.js';

const HOUR_MS = 3_600_000;

describe('the rate limit of a queue', () => {
  let kit: CoreKit;
  let ran: string[];
  let release: () => void;

  beforeEach(() => {
    kit = new CoreKit();
    ran = [];
  });

  afterEach(() => kit.stop());

  function work(max: number): void {
    const released = new Promise<void>((resolve) => (release = resolve));
    kit.worker(
      async ({ name }) => {
        ran.push(name);
        await released;
      },
      { limiter: { max, duration: HOUR_MS } },
    );
  }

  it('does not count jobs that wait for their slot', async () => {
    const queue = kit.queue();
    const slotted = { owners: ['track:1'], slot: { key: 'gpu', limit: 1 } };
    for (const name of ['first', 'waits', 'waits too']) await queue.add(name, {}, slotted);
    await queue.add('other', {}, { owners: ['track:2'] });
    work(2);

    await until(() => ran.length === 2, 'as many run as the limit allows');

    expect(ran).toEqual(['first', 'other']);
    release();
    await kit.owners.cancel('track:1', { close: false });
    await kit.nothingLeft();
  });

  it('does not count refused jobs', async () => {
    const queue = kit.queue();
    await queue.add('late', {}, { owners: ['track:1'], expiresIn: 1 });
    const { timestamp } = await queue.add('runs', {}, { owners: ['track:2'] });
    await until(() => Date.now() > timestamp + 1, 'the first is late');
    work(1);

    await until(() => ran.length === 1, 'one runs');

    expect(ran).toEqual(['runs']);
    release();
    await kit.nothingLeft();
  });
});
