import { describe, expect, it } from 'vitest';
import { cancelIdOf } from './commands/cancel-many.js';
import { readOwnerList } from './owner-list.js';
import { ownerOfWords, ownerPath } from './owner-name.js';
import { WrongUsage } from './problems.js';

describe('readOwnerList', () => {
  it('reads each owner once and ignores blank lines and comments', () => {
    const text = '# rides\r\n\r\n trip:42 \r\nsite:a:b\n   # more\ntrip:42\nlease:#1';
    expect(readOwnerList(text, '-')).toEqual([
      { owner: { type: 'trip', id: '42' }, line: 3 },
      { owner: { type: 'site', id: 'a:b' }, line: 4 },
      { owner: { type: 'lease', id: '#1' }, line: 7 },
    ]);
  });

  it('rejects the whole list and names the number of every invalid line', () => {
    expect(() => readOwnerList('trip:1\n42\n\n:x\ntrip:', 'gone.txt')).toThrow(
      new WrongUsage(`gone.txt has invalid lines; nothing was cancelled:
  line 2: an owner must be written type:id, as in trip:42; got "42"
  line 4: an owner must be written type:id, as in trip:42; got ":x"
  line 5: an owner's id must have 1 to 512 bytes; got 0`),
    );
  });

  it('gives an owner the same cancelId in the same run and a different one in another run', () => {
    const [a, b] = [
      { type: 'trip', id: '42' },
      { type: 'trip', id: '43' },
    ];
    expect(cancelIdOf('run-1', a)).toBe('run-1-9314fd3c7886654a1011002b');
    expect(new Set([cancelIdOf('run-1', a), cancelIdOf('run-1', b), cancelIdOf('run-2', a)]).size).toBe(3);
  });
});

describe('ownerOfWords', () => {
  it('accepts a type and an id as one word or two', () => {
    expect(
      ['trip 42', 'trip:42', 'trip a:b'].map((line) => ownerPath(ownerOfWords(line.split(' ')))),
    ).toEqual(['/v1/owners/trip/42', '/v1/owners/trip/42', '/v1/owners/trip/a%3Ab']);
    expect(ownerPath({ type: 'site', id: '../x?y#z/é' })).toBe('/v1/owners/site/..%2Fx%3Fy%23z%2F%C3%A9');
  });

  it.each([
    ['', 'Name the owner by type and id, as in trip 42 or trip:42.'],
    ['trip', 'An owner must be written type:id, as in trip:42; got "trip".'],
    ['trip 42 43', 'Name one owner only; "43" is too much. Quote an id that contains spaces.'],
    ['4x 1', 'An owner\'s type must be a word of letters, digits, - and _ (at most 64); got "4x".'],
    // In a URL path these would address another resource.
    ['trip ..', 'The id ".." cannot be part of a URL.'],
    ['trip:.', 'The id "." cannot be part of a URL.'],
  ])('rejects "%s"', (line, message) => {
    expect(() => ownerOfWords(line.split(' ').filter(Boolean))).toThrow(new WrongUsage(message));
  });
});
