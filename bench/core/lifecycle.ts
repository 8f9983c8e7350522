import { ourProducer } from '../lifecycle/ours.js';
import { extrasOf } from './extras.js';
import type { Producer } from './producer.process.js';

/** Enqueues through the lifecycle, as its own benchmark does. It has no call for many jobs: a batch is many calls at once. */
export async function lifecycleProducer(url: string): Promise<Producer> {
  const producer = await ourProducer(url);
  const add: Producer['add'] = (n, { perOwner, extra }) => producer.add(n, perOwner, extrasOf(n, extra));
  return {
    add,
    addMany: (from, count, manner) =>
      Promise.all(Array.from({ length: count }, (_, i) => add(from + i, manner))),
    close: () => producer.close(),
  };
}
