import type { Queue } from 'bullmq';
import { describe, expect, it } from 'vitest';
import { Journal } from './journal.js';
import { LifecycleOptions } from './options.js';
import { queuePrefix, Queues } from './queues.js';

const noQueues = (): Queues => {
  const options = {} as LifecycleOptions;
  return new Queues(options, new Journal(options));
};
const aQueue = (name: string): Queue => ({ name }) as Queue;

describe('the queues', () => {
  it('are known by name, each once', () => {
    const queues = noQueues();
    const [a, b] = [aQueue('a'), aQueue('b')];
    for (const queue of [a, b, aQueue('a')]) queues.add(queue);
    expect(queues.all()).toEqual([a, b]);
    expect(queues.get('a')).toBe(a);
    expect([queues.has('b'), queues.has('c')]).toEqual([true, false]);
  });

  it('say which one is missing', () => {
    expect(() => noQueues().get('a')).toThrow(
      new TypeError('No kind of queue "a" is registered in this process.'),
    );
  });

  it('keep all their keys in one Cluster slot', () => {
    expect(queuePrefix('mooring')).toBe('{mooring}');
  });
});
