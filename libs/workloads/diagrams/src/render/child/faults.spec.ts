import { describe, expect, it } from 'vitest';
import { isOutOfMemory, isTrap } from './faults.js';

const thrownBy = (does: () => unknown): unknown => {
  try {
    return does();
  } catch (error) {
    return error;
  }
};
const deeper = (): number => deeper() + 1;
const trap = (message: string): Error => Object.assign(new Error(message), { name: 'RuntimeError' });

describe('an error of a renderer', () => {
  it.each([
    ['a full stack', deeper],
    ['a full string', () => 'x'.repeat(2 ** 29).repeat(2)],
    ['a full array', () => Array.from({ length: 2 ** 32 })],
    ['a full buffer', () => new ArrayBuffer(2 ** 52)],
    ['a full typed array', () => new Uint8Array(2 ** 52)],
    ['a full memory', () => trap('Aborted(OOM). Build with -sASSERTIONS for more info.')],
    ['a memory that cannot grow', () => trap('Aborted(Cannot enlarge memory arrays)')],
  ])('means out of memory: %s', (_, does) => {
    expect(isOutOfMemory(thrownBy(does))).toBe(true);
  });

  it.each([
    ['a table', 'table index is out of bounds'],
    ['a memory access', 'memory access out of bounds'],
    ['an assertion', 'Aborted(Assertion failed: cp, at: ortho.c,390,chanSearch)'],
    ['a panic', 'unreachable'],
  ])('is a trap and not out of memory: %s', (_, message) => {
    expect(isOutOfMemory(trap(message))).toBe(false);
    expect(isTrap(trap(message))).toBe(true);
  });

  it('is neither when a number is out of range', () => {
    const error = thrownBy(() => 'x'.repeat(-1));
    expect(error).toBeInstanceOf(RangeError);
    expect(isOutOfMemory(error) || isTrap(error)).toBe(false);
  });
});
