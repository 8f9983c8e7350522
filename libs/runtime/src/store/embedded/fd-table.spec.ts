import { describe, expect, it } from 'vitest';

import { FdTable } from './fd-table.js';

describe('fd table', () => {
  it('returns the lowest free number first', () => {
    const fds = new FdTable<string>();
    const [first, second, third] = ['a', 'b', 'c'].map((entry) => fds.open(entry)!);
    fds.close(second!);
    fds.close(first!);

    expect([fds.open('d'), fds.open('e'), fds.open('f')]).toEqual([first, second, third! + 1]);
    expect(fds.entries()).toEqual(['d', 'e', 'c', 'f']);
  });

  it('stays within the numbers that Valkey supports, and reuses closed ones', () => {
    const fds = new FdTable<string>();
    const opened: number[] = [];
    for (let fd = fds.open('x'); fd !== undefined; fd = fds.open('x')) opened.push(fd);

    expect([opened[0], opened.at(-1)]).toEqual([4096, 10_095]);
    expect(fds.open('one too many')).toBeUndefined();
    fds.close(5_000);
    expect(fds.open('again')).toBe(5_000);
  });

  it('ignores a number that is not open', () => {
    const fds = new FdTable<string>();
    fds.close(4096);

    expect(fds.get(4096)).toBeUndefined();
    expect(fds.open('first')).toBe(4096);
  });
});
