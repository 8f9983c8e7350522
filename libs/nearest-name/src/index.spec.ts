import { describe, expect, it } from 'vitest';
import { nearestName } from './index.js';

describe('the nearest name', () => {
  const names = ['REDIS_URL', 'REDIS_CLUSTER', 'LOG_LEVEL'];

  it.each([
    ['REDIS_URL', 'the same'],
    ['REDISURL', 'one letter left out'],
    ['REDISS_URL', 'one letter put in'],
    ['REDIS_URI', 'one letter changed'],
  ])('of %s is REDIS_URL: %s', (name) => {
    expect(nearestName(name, names, 1)).toBe('REDIS_URL');
  });

  it('is none when every name differs by more letters than allowed', () => {
    expect(nearestName('REDIS_UXX', names, 2)).toBe('REDIS_URL');
    expect(nearestName('REDIS_XXX', names, 2)).toBeUndefined();
  });

  it('is the one that differs least, and of two equally near ones the first', () => {
    expect(nearestName('abd', ['xbd', 'abc', 'abdd'], 2)).toBe('xbd');
    expect(nearestName('abd', ['xxd', 'abc'], 2)).toBe('abc');
  });

  it('is none when there are no names', () => {
    expect(nearestName('abc', [], 9)).toBeUndefined();
  });
});
