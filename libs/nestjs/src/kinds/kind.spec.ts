import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { backoffMs, readBackoff } from './backoff.js';
import { KindProblems } from './kind-problems.js';
import { JobRetention } from './job-retention.js';
import { KindRegistry } from './kind-registry.js';
import { defineKind, type Kind } from './kind.js';
import { readPayload } from './payload-schema.js';

const payload = z.object({ photoId: z.string(), size: z.number().default(64) });

describe('defineKind', () => {
  it('fills in defaults and turns durations into numbers', () => {
    const kind = defineKind({
      name: 'sendWelcome',
      queue: 'mail_queue',
      payload,
      expiresIn: '5m',
      keep: { age: '1h', failed: { count: 5 } },
    });

    expect(kind).toMatchObject({
      name: 'sendWelcome',
      queue: 'mail_queue',
      class: 'normal',
      attempts: 1,
      timeoutMs: 3_600_000,
      graceMs: 5_000,
      expiresInMs: 300_000,
      dedup: { strategy: 'none' },
      keep: { completed: { age: 3_600 }, failed: { count: 5 } },
      artifacts: false,
      offered: true,
    });
  });

  it('reports all problems in one error', () => {
    const wrong = {
      name: '',
      queue: 'media',
      payload: {},
      attempts: 0,
      timeout: 'soon',
      dedup: { strategy: 'drop' },
    };

    expect(() => defineKind(wrong as never)).toThrow(
      [
        'Kind "" has 5 problem(s):',
        '  name is a text; got "".',
        '  payload is a schema, such as one of zod.',
        '  dedup.strategy is one of none, skip, replace, coalesce; got "drop".',
        '  attempts is a whole number from 1 to 1000; got 0.',
        '  timeout is a number of ms, or a text with a unit such as 500ms, 30s, 5m, 24h, 7d; got "soon".',
      ].join('\n'),
    );
  });
});

describe('the retention of a kind', () => {
  const define = (name: string, more: object) => defineKind({ name, queue: 'media', payload, ...more });
  const retention = (kinds: readonly Kind[], options = {}) => {
    const registry = new KindRegistry();
    registry.add(kinds);
    return new JobRetention(options as never, registry);
  };

  it('is its own, or that of the application', () => {
    const kind = define('a', { keep: { count: 5, failed: { age: '2h' } } });
    const kept = retention([kind], { retention: { age: '1h' } });

    expect(kept.optionsOf(kind)).toEqual({
      removeOnComplete: { age: 3_600, count: 5 },
      removeOnFail: { age: 7_200, count: 5 },
    });
  });

  it("is enforced by a sweep if artifacts are removed first; BullMQ's own age is then far above it", () => {
    const [bare, leaves, wanted] = [
      define('a', { keep: { age: '10d' } }),
      define('b', { artifacts: true }),
      define('c', { keepWanted: true }),
    ];
    const far = { age: 21 * 86_400 };

    expect(retention([bare, leaves]).optionsOf(bare)).toEqual({ removeOnComplete: far, removeOnFail: far });
    expect(retention([bare, wanted]).optionsOf(bare).removeOnComplete).toBe(false);
    expect([retention([bare]).isSwept('media'), retention([bare, leaves]).isSwept('media')]).toEqual([
      false,
      true,
    ]);
  });
});

describe('the backoff of a kind', () => {
  const ms = (value: number | string): number => Number.parseInt(String(value), 10) * 1_000;
  const delays = (backoff: Parameters<typeof readBackoff>[0]): number[] => {
    const stored = readBackoff(backoff, ms, new KindProblems('x'));
    return [1, 2, 3, 4].map((attempt) =>
      backoffMs(attempt, 'mooring', undefined, { opts: { backoff: stored } } as never),
    );
  };

  it('takes the steps of a list and stays at the last one', () => {
    expect(delays(['1s', '4s', '9s'])).toEqual([1_000, 4_000, 9_000, 9_000]);
  });

  it('is constant when it is fixed, and doubles up to its maximum when it is exponential', () => {
    expect(delays({ type: 'fixed', delay: '2s' })).toEqual([2_000, 2_000, 2_000, 2_000]);
    expect(delays({ type: 'exponential', delay: '2s', max: '10s', jitter: 0 })).toEqual([
      2_000, 4_000, 8_000, 10_000,
    ]);
  });

  it('is partly random with jitter', () => {
    const third = Array.from(
      { length: 50 },
      () => delays({ type: 'exponential', delay: '40s', max: '999s', jitter: 0.5 })[2]!,
    );
    expect(Math.min(...third)).toBeGreaterThanOrEqual(80_000);
    expect(Math.max(...third)).toBeLessThanOrEqual(160_000);
    expect(new Set(third).size).toBeGreaterThan(5);
  });
});

describe('a payload', () => {
  it('is read by its schema, with defaults', async () => {
    expect(await readPayload(payload, { photoId: 'a' })).toEqual({ payload: { photoId: 'a', size: 64 } });
  });

  it('that its schema rejects is described, one problem a line', async () => {
    expect(await readPayload(payload, { photoId: 1, size: 'big' })).toEqual({
      problems:
        '✖ Invalid input: expected string, received number\n  → at photoId\n' +
        '✖ Invalid input: expected number, received string\n  → at size',
    });
  });

  it('is read by any Standard Schema, including an asynchronous one', async () => {
    const even = {
      '~standard': {
        version: 1,
        vendor: 'test',
        validate: async (value: unknown) =>
          Number(value) % 2 === 0 ? { value: Number(value) } : { issues: [{ message: 'not even' }] },
      },
    };

    expect(await readPayload(even, '4')).toEqual({ payload: 4 });
    expect(await readPayload(even, 3)).toEqual({ problems: '✖ not even' });
  });
});
