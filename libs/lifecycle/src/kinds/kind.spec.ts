import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineKind, type Backoff, type KindOptions } from './kind.js';

const payload = z.object({ ms: z.number() });
const withName = (name: string): unknown => defineKind({ name, queue: 'q', payload });
const withQueue = (queue: string): unknown => defineKind({ name: 'k', queue, payload });

describe('a kind', () => {
  it('has defaults', () => {
    expect(defineKind({ name: 'media.thumbnail', queue: 'media', payload })).toEqual({
      name: 'media.thumbnail',
      queue: 'media',
      payload,
      attempts: 1,
      keep: { ageMs: 86_400_000, count: 1000 },
    });
  });

  it('has its durations in ms', () => {
    const backoff: Backoff = { type: 'exponential', delay: '1.5s' };
    expect(
      defineKind({ name: 'k', queue: 'q', payload, attempts: 3, backoff, keep: { age: '7d', count: 1 } }),
    ).toEqual({
      name: 'k',
      queue: 'q',
      payload,
      attempts: 3,
      backoff: { type: 'exponential', delayMs: 1_500 },
      keep: { ageMs: 604_800_000, count: 1 },
    });
  });

  it('cannot be changed', () => {
    expect(Object.isFrozen(withName('k'))).toBe(true);
  });

  it.each(['k', 'k2', 'media.thumbnail', 'a-b.c-d', 'a.1', 'k'.repeat(64)])('may be named %s', (name) => {
    expect(withName(name)).toMatchObject({ name });
  });

  it.each(['', 'K', '2k', '.k', 'k.', 'a..b', 'a b', 'a:b', 'a_b', 'k'.repeat(65)])(
    'may not be named "%s"',
    (name) => {
      expect(() => withName(name)).toThrow(
        new TypeError(
          `Kind "${name}" has 1 problem(s):\n  name must be lower-case words joined by dots (at most 64 characters); got "${name}".`,
        ),
      );
    },
  );

  it.each(['q', 'q2', 'media-thumbnails', 'a-1', 'q'.repeat(64)])('may wait in %s', (queue) => {
    expect(withQueue(queue)).toMatchObject({ queue });
  });

  it.each(['', 'Q', '2q', '-q', 'q-', 'a--b', 'a.b', 'a:b', 'a_b', '{q}', 'q'.repeat(65)])(
    'may not wait in "%s"',
    (queue) => {
      expect(() => withQueue(queue)).toThrow(
        new TypeError(
          `Kind "k" has 1 problem(s):\n  queue must be kebab-case (at most 64 characters); got "${queue}".`,
        ),
      );
    },
  );

  it('says everything that is wrong with it in one error', () => {
    const wrong = {
      name: 'Media',
      queue: 'a:b',
      payload: { ms: 'number' },
      attempts: 0,
      backoff: { type: 'fixed', delay: 'soon' },
      keep: { age: 'long', count: 0 },
    } as unknown as KindOptions<typeof payload>;
    expect(() => defineKind(wrong)).toThrow(
      new TypeError(
        [
          'Kind "Media" has 7 problem(s):',
          'name must be lower-case words joined by dots (at most 64 characters); got "Media".',
          'queue must be kebab-case (at most 64 characters); got "a:b".',
          'payload must be a zod schema.',
          'attempts must be at least 1; got 0.',
          'keep.count must be at least 1; got 0.',
          'keep.age must be a number of ms or a number with a unit (500ms, 30s, 5m, 24h, 7d); got "long".',
          'backoff.delay must be a number of ms or a number with a unit (500ms, 30s, 5m, 24h, 7d); got "soon".',
        ].join('\n  '),
      ),
    );
  });

  it.each([0, -1, 1.5, Number.NaN])('is not tried %d times', (attempts) => {
    expect(() => defineKind({ name: 'k', queue: 'q', payload, attempts })).toThrow(
      `attempts must be at least 1; got ${attempts}.`,
    );
  });
});
