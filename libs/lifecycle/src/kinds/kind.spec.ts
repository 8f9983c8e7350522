import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineKind, type KindOptions } from './kind.js';

const payload = z.object({ ms: z.number() });
const withName = (name: string): unknown => defineKind({ name, queue: 'q', payload });
const withQueue = (queue: string): unknown => defineKind({ name: 'k', queue, payload });

describe('a kind', () => {
  it('has defaults', () => {
    expect(defineKind({ name: 'media.thumbnail', queue: 'media', payload })).toEqual({
      name: 'media.thumbnail',
      queue: 'media',
      payload,
      class: 'normal',
      attempts: 1,
      backoffMs: expect.any(Function),
      timeoutMs: 3_600_000,
      graceMs: 5_000,
      expiresInMs: undefined,
      dedup: { strategy: 'none' },
      slot: undefined,
      keepWanted: false,
      offered: true,
      maxPerOwner: undefined,
      sandbox: undefined,
      checkOwner: undefined,
      onUnknownOwner: 'run',
      ownersOf: undefined,
      keep: { failed: {} },
      artifacts: true,
    });
  });

  it('has its durations in ms', () => {
    const durations = {
      timeout: '2m',
      grace: '1.5s',
      expiresIn: '5m',
      keep: { age: '7d', count: 1, failed: { age: '30d' } },
    } as const;
    expect(defineKind({ name: 'k', queue: 'q', payload, ...durations })).toMatchObject({
      timeoutMs: 120_000,
      graceMs: 1_500,
      expiresInMs: 300_000,
      keep: { ageMs: 604_800_000, count: 1, failed: { ageMs: 2_592_000_000 } },
    });
  });

  it.each<[string, KindOptions<typeof payload>['backoff'], number[]]>([
    ['at once, when it says nothing', undefined, [0, 0, 0]],
    ['after the same time', { type: 'fixed', delay: '2s' }, [2_000, 2_000, 2_000]],
    ['later each time', { type: 'exponential', delay: '1s', jitter: 0 }, [1_000, 2_000, 4_000]],
    [
      'later each time, up to a limit',
      { type: 'exponential', delay: '1s', max: '3s', jitter: 0 },
      [1_000, 2_000, 3_000],
    ],
    ['by a list, whose last step counts on', ['1s', '4s'], [1_000, 4_000, 4_000]],
  ])('is tried again %s', (_what, backoff, waits) => {
    const kind = defineKind({ name: 'k', queue: 'q', payload, attempts: 4, ...(backoff && { backoff }) });
    expect([1, 2, 3].map((attempt) => kind.backoffMs(attempt))).toEqual(waits);
  });

  it('leaves a fifth of an exponential backoff to chance', () => {
    const { backoffMs } = defineKind({
      name: 'k',
      queue: 'q',
      payload,
      backoff: { type: 'exponential', delay: '1s' },
    });
    const waits = Array.from({ length: 200 }, () => backoffMs(1));
    expect(Math.min(...waits)).toBeGreaterThanOrEqual(800);
    expect(Math.max(...waits)).toBeLessThanOrEqual(1_000);
    expect(new Set(waits).size).toBeGreaterThan(1);
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

  it.each([
    new URL('file:///srv/my%20work/render.js'),
    'file:///srv/my%20work/render.js',
    '/srv/my work/render.js',
  ])('knows the file of its sandbox by its path: %s', (sandbox) => {
    expect(defineKind({ name: 'k', queue: 'q', payload, sandbox }).sandbox).toBe('/srv/my work/render.js');
  });

  it.each(['./render.js', 'render.js', 'https://example.org/render.js', ''])(
    'has no sandbox in "%s"',
    (sandbox) => {
      expect(() => defineKind({ name: 'k', queue: 'q', payload, sandbox })).toThrow(
        `sandbox must be a file: URL or an absolute path, as in new URL('./render.sandbox.js', import.meta.url); got "${sandbox}".`,
      );
    },
  );

  it('says everything that is wrong with it in one error', () => {
    const wrong = {
      name: 'Media',
      queue: 'a:b',
      payload: { ms: 'number' },
      class: 'first',
      attempts: 0,
      backoff: { type: 'linear', delay: 'soon', jitter: 2 },
      timeout: 'long',
      dedup: { strategy: 'merge' },
      maxPerOwner: 0,
      keep: { age: 'long', count: 0 },
    } as unknown as KindOptions<typeof payload>;
    expect(() => defineKind(wrong)).toThrow(
      new TypeError(
        [
          'Kind "Media" has 13 problem(s):',
          'name must be lower-case words joined by dots (at most 64 characters); got "Media".',
          'queue must be kebab-case (at most 64 characters); got "a:b".',
          'payload must be a zod schema.',
          'class must be one of urgent, normal, background; got "first".',
          'attempts must be 1 to 1000; got 0.',
          'dedup.strategy must be one of none, skip, replace, coalesce; got "merge".',
          'maxPerOwner must be at least 1; got 0.',
          'backoff.type must be fixed or exponential; got "linear".',
          'backoff.jitter must be 0 to 1; got 2.',
          'backoff.delay must be a number of ms or a number with a unit (500ms, 30s, 5m, 24h, 7d); got "soon".',
          'timeout must be a number of ms or a number with a unit (500ms, 30s, 5m, 24h, 7d); got "long".',
          'keep.count must be at least 1; got 0.',
          'keep.age must be a number of ms or a number with a unit (500ms, 30s, 5m, 24h, 7d); got "long".',
        ].join('\n  '),
      ),
    );
  });

  it.each([0, -1, 1.5, 1001, Number.NaN])('is not tried %d times', (attempts) => {
    expect(() => defineKind({ name: 'k', queue: 'q', payload, attempts })).toThrow(
      `attempts must be 1 to 1000; got ${attempts}.`,
    );
  });
});
