import { afterEach, beforeEach, expect, it } from 'vitest';
import { CoreKit, until } from '../../../../test/support/core-kit.js';

let kit: CoreKit;

beforeEach(() => {
  kit = new CoreKit();
});

afterEach(() => kit.stop());

it('fetches the next job as soon as enough runs have ended for the lowered limit of the queue', async () => {
  const queue = kit.queue();
  await queue.setGlobalConcurrency(3);
  for (const name of ['1', '2', '3', '4']) await queue.add(name, {}, { owners: ['track:1'] });
  const began: string[] = [];
  let release!: () => void;
  const released = new Promise<void>((resolve) => (release = resolve));
  const minute = { drainDelay: 60 };
  kit.worker(
    async ({ name }) => {
      began.push(name);
      await released;
    },
    { ...minute, concurrency: 10 },
  );
  await until(() => began.length === 3, 'as many run as the limit allows');
  await queue.setGlobalConcurrency(1);

  release();

  await until(() => began.length === 4, 'the next one runs');
  expect(began).toEqual(['1', '2', '3', '4']);
  await kit.nothingLeft();
});
