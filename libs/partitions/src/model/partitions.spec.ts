import { describe, expect, it } from 'vitest';
import { partitionOfOwner, partitionPrefixes } from './partitions.js';

describe('partitions', () => {
  it('each have a hash tag of their own, and a single partition uses the plain prefix', () => {
    expect(partitionPrefixes({ prefix: 'bull' })).toEqual(['bull']);
    expect(partitionPrefixes({ prefix: '{bull}', partitions: 1 })).toEqual(['{bull}']);
    expect(partitionPrefixes({ partitions: 2 })).toEqual(['{bull~0}', '{bull~1}']);
    expect(partitionPrefixes({ prefix: 'a{b}c', partitions: 2 })).toEqual(['a{b~0}c', 'a{b~1}c']);
  });

  it('keep their owners, because jobs are found by owner', () => {
    const places = ['track:1', 'track:2', 'user:42', 'trip:a b|c', 'trip:Ø'].map((name) => [
      name,
      partitionOfOwner(name, 4),
      partitionOfOwner(name, 7),
    ]);

    expect(places).toMatchInlineSnapshot(`
      [
        [
          "track:1",
          2,
          1,
        ],
        [
          "track:2",
          0,
          0,
        ],
        [
          "user:42",
          2,
          4,
        ],
        [
          "trip:a b|c",
          2,
          0,
        ],
        [
          "trip:Ø",
          1,
          4,
        ],
      ]
    `);
  });

  it('have about as many owners each', () => {
    const counts = [0, 0, 0, 0, 0, 0, 0, 0];
    for (let n = 0; n < 8_000; n += 1) counts[partitionOfOwner(`track:${n}`, 8)]! += 1;

    expect(Math.min(...counts)).toBeGreaterThan(800);
    expect(Math.max(...counts)).toBeLessThan(1_200);
  });
});
