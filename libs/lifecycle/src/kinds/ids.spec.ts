import { describe, expect, it } from 'vitest';
import { newJobId, queueOfJobId } from './ids.js';

describe('a job’s id', () => {
  it.each(['probe', 'media-thumbnails', 'a-b-c', 'q2'])('names its queue: %s', (queue) => {
    expect(queueOfJobId(newJobId(queue))).toBe(queue);
  });

  it('is its queue, a hyphen and 20 letters or digits', () => {
    expect(newJobId('media-thumbnails')).toMatch(/^media-thumbnails-[0-9A-Za-z]{20}$/);
  });

  it('is never given twice, never a whole number, and has no colon', () => {
    const ids = Array.from({ length: 100_000 }, () => newJobId('q'));
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.filter((id) => /[:{}]/.test(id) || String(Number.parseInt(id, 10)) === id)).toEqual([]);
  });

  it('uses every letter and digit about equally often', () => {
    const seen = new Map<string, number>();
    for (let i = 0; i < 10_000; i += 1) {
      for (const letter of newJobId('q').slice(2)) seen.set(letter, (seen.get(letter) ?? 0) + 1);
    }
    const expected = (10_000 * 20) / 62;
    const far = [...seen.values()].filter((count) => Math.abs(count - expected) > expected * 0.15);
    expect({ letters: seen.size, far }).toEqual({ letters: 62, far: [] });
  });

  it.each([
    '',
    '-',
    'probe',
    'probe-',
    '42',
    '0:1',
    `-${'a'.repeat(20)}`,
    'a'.repeat(20),
    `probe-${'a'.repeat(19)}`,
    `probe-${'a'.repeat(21)}`,
    `probe-${'a'.repeat(19)}:`,
    `probe-${'a'.repeat(19)}é`,
    `probe-${'a'.repeat(19)}\n`,
    `probe:${'a'.repeat(20)}`,
  ])('is not %j', (id) => {
    expect(queueOfJobId(id)).toBeUndefined();
  });
});
