import { describe, expect, it } from 'vitest';
import { slotOfKey } from '../kinds/envelope.js';
import { checkSlot, nameOfSlot } from './slot-name.js';

describe('the name of a slot', () => {
  it('is of one space only: callers, kinds and deduplication keys never share one', () => {
    const names = [
      nameOfSlot({ key: 'trip:1', limit: 1 }),
      nameOfSlot({ key: 'trip:1', limit: 1, space: 'callers' }),
      slotOfKey('trip:1', 'digest'),
      slotOfKey('trip:1', 'callers'),
    ];
    expect(new Set(names).size).toBe(names.length);
  });

  it.each(['trip:1\0digest', '\0callers\0press', 'a\nb', 'a\u007f', 'a\u0085'])(
    'is not made of a key with a control character: %j',
    (key) => {
      expect(() => checkSlot({ key, limit: 1 })).toThrow('slot.key holds a control character.');
    },
  );
});
