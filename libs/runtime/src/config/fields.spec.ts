import { describe, expect, it } from 'vitest';
import type { z } from 'zod';
import * as fields from './fields.js';

/** The value of a field, or its first error. */
const read = (field: z.ZodType, text: string): unknown => {
  const { success, data, error } = field.safeParse(text);
  return success ? data : error.issues[0]?.message;
};

describe('a duration', () => {
  const refused = 'expected a duration above zero and up to 24d, as in 500ms, 30s, 5m, 24h or 7d';

  it.each([
    ['1', 1],
    ['1ms', 1],
    ['1.5s', 1_500],
    ['24h', 86_400_000],
    ['7d', 604_800_000],
  ])('may be %s', (text, ms) => {
    expect(read(fields.duration, text)).toBe(ms);
  });

  it.each(['0', '0s', '0.4ms', '-1s', 'soon', '1 hour', '1m30s'])('may not be %s', (text) => {
    expect(read(fields.duration, text)).toBe(refused);
  });

  it('is at most the longest time of a timer', () => {
    expect(read(fields.duration, '2147483647ms')).toBe(2_147_483_647);
    expect(read(fields.duration, '2147483648ms')).toBe(refused);
  });
});

describe('the time limit of durability', () => {
  const refused =
    'expected a duration of 50ms up to 60s, as in 500ms or 3s; a number without a unit is milliseconds';

  it.each([
    ['50', 50],
    ['3s', 3_000],
    ['60s', 60_000],
  ])('may be %s', (text, ms) => {
    expect(read(fields.DurabilityEnv.DURABILITY_TIMEOUT, text)).toBe(ms);
  });

  it.each(['3', '49ms', '61s', '24d'])('may not be %s', (text) => {
    expect(read(fields.DurabilityEnv.DURABILITY_TIMEOUT, text)).toBe(refused);
  });
});

describe('an age', () => {
  it.each([
    ['1ms', 1],
    ['30d', 2_592_000_000],
    ['36500d', 3_153_600_000_000],
  ])('may be %s, which is longer than a timer can wait', (text, ms) => {
    expect([read(fields.age, text), read(fields.grace, text)]).toEqual([ms, ms]);
  });

  it.each(['36501d', '-1s', 'soon'])('may not be %s', (text) => {
    expect(read(fields.age, text)).toMatch(/^expected a duration above zero and up to 36500d, as in/);
    expect(read(fields.grace, text)).toMatch(/^expected a duration of 0 up to 36500d, as in/);
  });

  it('may be 0 only for a grace', () => {
    expect(read(fields.grace, '0s')).toBe(0);
    expect(read(fields.age, '0s')).toMatch(/above zero/);
  });
});

describe('a port', () => {
  it.each([
    ['0', 0],
    ['3000', 3000],
    ['65535', 65_535],
  ])('may be %s', (text, port) => {
    expect(read(fields.port, text)).toBe(port);
  });

  it.each(['65536', '-1', '80.5', '0x50', '1e3', ' 80', 'http'])('may not be %s', (text) => {
    expect(read(fields.port, text)).toBe('expected a port from 0 to 65535');
  });
});

describe('a whole number', () => {
  it('is at least its minimum', () => {
    expect(read(fields.wholeNumber(2), '2')).toBe(2);
    expect(read(fields.wholeNumber(2), '1')).toBe('expected a whole number of at least 2');
  });

  it('is a safe integer', () => {
    expect(read(fields.wholeNumber(1), '9007199254740991')).toBe(Number.MAX_SAFE_INTEGER);
    expect(read(fields.wholeNumber(1), '9007199254740992')).toBe('expected a whole number of at least 1');
  });

  it.each(['', '-1', '1.5', '1e3', 'two', ' 2'])('is not "%s"', (text) => {
    expect(read(fields.wholeNumber(0), text)).toBe('expected a whole number of at least 0');
  });
});

describe('words', () => {
  it('are separated by commas, with or without blanks', () => {
    expect(read(fields.words(), 'a')).toEqual(['a']);
    expect(read(fields.words(), 'probe, media.thumbnail ,c')).toEqual(['probe', 'media.thumbnail', 'c']);
  });

  it.each([',', 'a,', ',a', 'a,,b', 'a, ,b'])('are never empty, as in "%s"', (text) => {
    expect(read(fields.words(), text)).toBe('expected names separated by commas');
  });
});

describe('addresses', () => {
  it('are hosts and ports', () => {
    expect(read(fields.addresses(), 'a:1, 10.0.0.7:26379 ,c.example:65535')).toEqual([
      { host: 'a', port: 1 },
      { host: '10.0.0.7', port: 26_379 },
      { host: 'c.example', port: 65_535 },
    ]);
  });

  it.each(['a', 'a:', ':1', 'a:b', 'a:65536', 'a:1,', 'a b:1', 'redis://a:1', 'user:password@a:1'])(
    'are not "%s"',
    (text) => {
      expect(read(fields.addresses(), text)).toBe('expected host:port,host:port');
    },
  );
});

describe('the address of a store', () => {
  const refused =
    'expected redis://[user:password@]host:port[/db], or rediss:// for TLS; escape a / in a password as %2F';

  it.each(['redis://h', 'redis://h:6379/2', 'rediss://user:pa%40ss@h:1', 'redis://:only@[::1]:1'])(
    'may be %s',
    (text) => {
      expect(read(fields.StoreEnv.REDIS_URL, text)).toBe(text);
    },
  );

  it.each([
    'h:6379',
    'http://h',
    'redis://',
    'redis:///2',
    'redis:h',
    'redis://h:99999',
    'redis://u:a#b@h:1',
  ])('may not be %s', (text) => {
    expect(read(fields.StoreEnv.REDIS_URL, text)).toBe(refused);
  });

  it('has no password with a bare slash, which would be shown as a path', () => {
    expect(read(fields.StoreEnv.REDIS_URL, 'redis://user:1234/hush@h:6379')).toBe(refused);
  });
});

describe('the prefix', () => {
  it('has at most 64 characters', () => {
    const refused = 'expected letters, digits, . _ - (at most 64)';
    expect(read(fields.StoreEnv.MOORING_PREFIX, 'a'.repeat(64))).toBe('a'.repeat(64));
    expect(read(fields.StoreEnv.MOORING_PREFIX, 'a'.repeat(65))).toBe(refused);
  });

  it.each(['a:b', '{a}', 'a b', 'ä', 'a*'])('is not "%s", which has a meaning in a key', (text) => {
    expect(fields.StoreEnv.MOORING_PREFIX.safeParse(text).success).toBe(false);
  });
});
