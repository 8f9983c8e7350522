import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { inLanes } from './lanes.js';

describe('lanes', () => {
  const many = Array.from({ length: 20 }, (_, i) => i);
  const never = new AbortController().signal;

  it('answer what came of each, in order', async () => {
    expect(await inLanes(many, never, (i) => turn(i * 2))).toEqual(many.map((i) => i * 2));
  });

  it('begin nothing more after an error, and are over when what was begun is', async () => {
    const [begun, ended]: [number[], number[]] = [[], []];
    const work = async (i: number): Promise<void> => {
      begun.push(i);
      if (i === 2) throw new Error('told to');
      for (let turns = 0; turns < 5; turns += 1) await turn();
      ended.push(i);
    };
    await expect(inLanes(many, never, work)).rejects.toThrow('told to');
    expect([begun, ended]).toEqual([
      [0, 1, 2, 3, 4, 5, 6, 7],
      [0, 1, 3, 4, 5, 6, 7],
    ]);
  });

  it('begin nothing more when told to stop', async () => {
    const stop = new AbortController();
    const results = await inLanes(many, stop.signal, (i) => {
      if (i === 3) stop.abort();
      return Promise.resolve(i);
    });
    expect(results).toEqual([0, 1, 2, 3]);
  });
});
