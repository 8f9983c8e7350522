import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { InvalidJobError } from '../errors.js';
import { formatOwner, owner, parseOwner } from './owner.js';

describe('an owner', () => {
  it.each([
    ['trip:42', 'trip', '42'],
    ['trip:a:b:c', 'trip', 'a:b:c'],
    ['trip::', 'trip', ':'],
    ['site:{x}', 'site', '{x}'],
    ['site-1_b:🚢 ⚓', 'site-1_b', '🚢 ⚓'],
    ['T: ', 'T', ' '],
  ])('is written %s', (text, type, id) => {
    expect(formatOwner(owner(type, id))).toBe(text);
    expect(parseOwner(text)).toEqual({ type, id });
  });

  it('is read as it was written, whatever its id', () => {
    const ids = fc.string({ unit: 'binary', minLength: 1, maxLength: 128 });
    fc.assert(
      fc.property(ids, (id) => {
        expect(parseOwner(formatOwner(owner('trip', id)))).toEqual({ type: 'trip', id });
      }),
    );
  });

  it('cannot be changed', () => {
    expect(Object.isFrozen(owner('trip', '42'))).toBe(true);
  });

  it('has an id of at most 512 bytes', () => {
    expect(owner('trip', 'x'.repeat(512))).toEqual({ type: 'trip', id: 'x'.repeat(512) });
    expect(() => owner('trip', 'x'.repeat(513))).toThrow(
      new InvalidJobError(`An owner's id is a string of 1 to 512 bytes; got "${'x'.repeat(79)}….`),
    );
  });

  it('has an id measured in bytes, not in letters', () => {
    expect(owner('trip', '⚓'.repeat(170)).id).toHaveLength(170);
    expect(() => owner('trip', '⚓'.repeat(171))).toThrow(InvalidJobError);
  });

  it.each([
    ['', '""'] as const,
    [42, '42'] as const,
    [undefined, 'undefined'] as const,
    [null, 'null'] as const,
  ])('has no id like %j', (id, shown) => {
    expect(() => owner('trip', id as string)).toThrow(
      new InvalidJobError(`An owner's id is a string of 1 to 512 bytes; got ${shown}.`),
    );
  });

  it.each(['\ud83d', 'a\ude42b', '\ude42\ud83d'])('has no half of a character in its id, like %j', (id) => {
    const error = new InvalidJobError(
      `An owner's id holds half of a surrogate pair; got ${JSON.stringify(id)}.`,
    );
    expect(() => owner('trip', id)).toThrow(error);
    expect(() => parseOwner(`trip:${id}`)).toThrow(error);
  });

  it('has a type of at most 64 letters', () => {
    expect(owner('t'.repeat(64), '1').type).toBe('t'.repeat(64));
    expect(() => owner('t'.repeat(65), '1')).toThrow(InvalidJobError);
  });

  it.each(['', '4trip', '-trip', 'tr ip', 'tr.ip', 'trip\n', 'ä', '{trip}'])(
    'has no type like %j',
    (type) => {
      expect(() => owner(type, '1')).toThrow(
        new InvalidJobError(
          `An owner's type is a word of letters, digits, - and _ (at most 64); got ${JSON.stringify(type)}.`,
        ),
      );
    },
  );

  it.each([undefined, null])('has no type like %s', (type) => {
    expect(() => owner(type as never, '1')).toThrow(
      new InvalidJobError(
        `An owner's type is a word of letters, digits, - and _ (at most 64); got ${String(type)}.`,
      ),
    );
  });

  it.each(['', 'trip', ':42', ':'])('is not read from %j', (text) => {
    expect(() => parseOwner(text)).toThrow(
      new InvalidJobError(`An owner is written type:id, as in trip:42; got ${JSON.stringify(text)}.`),
    );
  });

  it.each([42, null, undefined, ['trip:42'], { type: 'trip', id: '42' }])('is not read from %j', (text) => {
    expect(() => parseOwner(text as never)).toThrow(InvalidJobError);
  });

  it('is not read from a type without an id', () => {
    expect(() => parseOwner('trip:')).toThrow(
      new InvalidJobError('An owner\'s id is a string of 1 to 512 bytes; got "".'),
    );
  });
});
