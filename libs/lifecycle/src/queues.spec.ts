import type { Queue } from 'bullmq';
import { describe, expect, it } from 'vitest';
import { queuePrefix, Queues } from './queues.js';

const aQueue = (name: string): Queue => ({ name }) as Queue;

describe('the queues', () => {
  it('are known by name, each once', () => {
    const queues = new Queues();
    const [a, b] = [aQueue('a'), aQueue('b')];
    for (const queue of [a, b, aQueue('a')]) queues.add(queue);
    expect(queues.all()).toEqual([a, b]);
    expect(queues.get('a')).toBe(a);
    expect([queues.has('b'), queues.has('c')]).toEqual([true, false]);
  });

  it('say which one is missing', () => {
    expect(() => new Queues().get('a')).toThrow(
      new TypeError('No kind of queue "a" is registered in this process.'),
    );
  });

  it('keep all their keys in one Cluster slot', () => {
    expect(queuePrefix('mooring')).toBe('{mooring}');
  });
});
