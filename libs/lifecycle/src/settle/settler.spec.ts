import { expect, it } from 'vitest';
import type { LifecycleOptions } from '../options.js';
import type { Run } from '../run/run.js';
import type { Endings } from './endings.js';
import { Settler } from './settler.js';

it('says to each who asks that what was begun is over', async () => {
  let end!: () => void;
  const endings = { end: () => new Promise<void>((resolve) => (end = resolve)) } as unknown as Endings;
  const rest = [] as unknown as [never, never, never, never];
  const settler = new Settler({} as LifecycleOptions, endings, ...rest);
  await settler.settled();
  settler.leave({ envelope: { o: [], e: [] }, facts: { queue: 'q' }, hasBegun: true } as unknown as Run);
  const settled: number[] = [];
  const both = [1, 2].map((n) => settler.settled().then(() => settled.push(n)));
  await Promise.resolve();
  expect(settled).toEqual([]);
  end();
  await Promise.all(both);
  expect(settled).toEqual([1, 2]);
});
