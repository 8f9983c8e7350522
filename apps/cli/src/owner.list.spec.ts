import { describe, expect, it } from 'vitest';
import { cancelIdOf } from './commands/cancel.many.js';
import { readOwnerList } from './owner.list.js';
import { ownerOfWords, ownerPath } from './owner.name.js';
import { WrongUsage } from './problems.js';

describe('a list of owners', () => {
  it('has one a line, each once; blank lines and comments say nothing', () => {
    const text = '# rides\r\n\r\n trip:42 \r\nsite:a:b\n   # more\ntrip:42\nlease:#1';
    expect(readOwnerList(text, '-')).toEqual([
      { owner: { type: 'trip', id: '42' }, line: 3 },
      { owner: { type: 'site', id: 'a:b' }, line: 4 },
      { owner: { type: 'lease', id: '#1' }, line: 7 },
    ]);
  });

  it('is refused whole for one line that is none, with its number', () => {
    expect(() => readOwnerList('trip:1\n42\n\n:x\ntrip:', 'gone.txt')).toThrow(
      new WrongUsage(`gone.txt has lines that name no owner; nothing is cancelled:
  line 2: an owner is written type:id, as in trip:42; got "42"
  line 4: an owner is written type:id, as in trip:42; got ":x"
  line 5: an owner's id has 1 to 512 bytes; got 0`),
    );
  });

  it('gives each owner the same cancelId in the same run, and another in another', () => {
    const [a, b] = [
      { type: 'trip', id: '42' },
      { type: 'trip', id: '43' },
    ];
    expect(cancelIdOf('run-1', a)).toBe('run-1-9314fd3c7886654a1011002b');
    expect(new Set([cancelIdOf('run-1', a), cancelIdOf('run-1', b), cancelIdOf('run-2', a)]).size).toBe(3);
  });
});

describe('an owner', () => {
  it('is a type and an id, in one word or two', () => {
    expect(
      ['trip 42', 'trip:42', 'trip a:b'].map((line) => ownerPath(ownerOfWords(line.split(' ')))),
    ).toEqual(['/v1/owners/trip/42', '/v1/owners/trip/42', '/v1/owners/trip/a%3Ab']);
    expect(ownerPath({ type: 'site', id: '../x?y#z/é' })).toBe('/v1/owners/site/..%2Fx%3Fy%23z%2F%C3%A9');
  });

  it.each([
    ['', 'Say whose: a type and an id, as in trip 42 or trip:42.'],
    ['trip', 'An owner is written type:id, as in trip:42; got "trip".'],
    ['trip 42 43', 'One owner at a time: "43" is too much. An id with blanks is quoted.'],
    ['4x 1', 'An owner\'s type is a word of letters, digits, - and _ (at most 64); got "4x".'],
    // As part of an address these would name another owner's place.
    ['trip ..', 'The id ".." cannot be written in an address.'],
    ['trip:.', 'The id "." cannot be written in an address.'],
  ])('is not "%s"', (line, message) => {
    expect(() => ownerOfWords(line.split(' ').filter(Boolean))).toThrow(new WrongUsage(message));
  });
});
