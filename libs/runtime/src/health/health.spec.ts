import { describe, expect, it } from 'vitest';
import { HealthBook, type ReadinessCheck } from './health.js';

const ready = (...checks: ReadinessCheck[]): Promise<unknown> => {
  const book = new HealthBook();
  for (const [i, check] of checks.entries()) book.add(`part ${i + 1}`, check);
  return book.ready();
};
const well = async (): Promise<undefined> => undefined;

describe('the health of a process', () => {
  it('is ready without checks', async () => {
    expect(await ready()).toEqual({ ok: true, why: [] });
  });

  it('is ready when every check passes', async () => {
    expect(await ready(well, well)).toEqual({ ok: true, why: [] });
  });

  it('names each failed check', async () => {
    expect(
      await ready(
        async () => 'the store is away',
        well,
        async () => 'the queue is stuck',
      ),
    ).toEqual({ ok: false, why: ['the store is away', 'the queue is stuck'] });
  });

  it('counts a check that throws as failed', async () => {
    expect(
      await ready(
        async () => {
          throw new Error('broken');
        },
        () => {
          throw new Error('broken at once');
        },
        () => Promise.reject(new RangeError('too far')),
      ),
    ).toEqual({ ok: false, why: ['broken', 'broken at once', 'too far'] });
  });

  it('waits only briefly for checks that do not answer, and for all at once', async () => {
    const never = (): Promise<undefined> => new Promise(() => undefined);
    const began = performance.now();
    expect(await ready(never, never)).toEqual({
      ok: false,
      why: ['part 1 did not answer within 1000 ms', 'part 2 did not answer within 1000 ms'],
    });
    expect(performance.now() - began).toBeLessThan(1_900);
  });

  it('is not ready from the moment it drains, but alive', async () => {
    const book = new HealthBook();
    book.add('the queue', well);
    book.beginDraining();
    expect(await book.ready()).toEqual({ ok: false, why: ['draining'] });
    expect(book.alive()).toEqual({ ok: true, why: [] });
  });

  it('also names failed checks while it drains', async () => {
    const book = new HealthBook();
    book.add('the store', async () => 'the store is away');
    book.beginDraining();
    expect(await book.ready()).toEqual({ ok: false, why: ['draining', 'the store is away'] });
  });
});
