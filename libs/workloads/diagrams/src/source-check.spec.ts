import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { DiagramInvalid, RendererBusy } from './render/errors.js';
import type { Renderers } from './render/renderers.js';
import { SourceCheck } from './source-check.js';

const REQUEST = { type: 'd2', output: 'svg', source: 'a -> b' } as const;

describe('the check of a source', () => {
  const checkOf = (check: Renderers['check'], isReady = true): SourceCheck => {
    const canCheck = (): Promise<boolean> => Promise.resolve(isReady);
    return new SourceCheck({ check, canCheck, close: () => Promise.resolve() } as unknown as Renderers);
  };

  it('reports the error and its position', async () => {
    const error = new DiagramInvalid('no', { line: 2, column: 5 });
    const refused = checkOf(() => Promise.reject(error)).check(REQUEST);
    await expect(refused).rejects.toMatchObject({
      code: 'INVALID_DIAGRAM',
      message: 'no',
      more: { members: { line: 2, column: 5 } },
    });
  });

  it('refuses nothing when it is busy or fails itself', async () => {
    const failures = [new RendererBusy('d2'), new Error('anything else')];
    const checks = failures.map((cause) => checkOf(() => Promise.reject(cause)).check(REQUEST));
    await expect(Promise.all(checks)).resolves.toHaveLength(2);
  });

  it('has a time limit, after which the render continues', async () => {
    let signal: AbortSignal | undefined;
    const check = checkOf((_type, _source, given) => {
      signal = given;
      return new Promise(vi.fn());
    });
    const began = performance.now();
    await check.check(REQUEST);
    expect(performance.now() - began).toBeLessThan(2_500);
    expect(signal?.aborted).toBe(false);
    await check.onApplicationShutdown();
    expect(signal?.aborted).toBe(true);
  });

  it('allows more time while its renderer starts, and the usual time afterwards', async () => {
    const flaw = new DiagramInvalid('no');
    const late = checkOf(async (_type, _source, _signal, begun) => {
      await pause(1_300);
      begun?.();
      throw flaw;
    }, false);
    await expect(late.check(REQUEST)).rejects.toMatchObject({ code: 'INVALID_DIAGRAM', message: 'no' });

    const stuck = checkOf(async (_type, _source, _signal, begun) => {
      begun?.();
      return new Promise(vi.fn());
    }, false);
    const began = performance.now();
    await stuck.check(REQUEST);
    expect(performance.now() - began).toBeLessThan(2_500);
  });

  it('is bounded even if the renderer never starts', async () => {
    const began = performance.now();
    await checkOf(() => new Promise(vi.fn()), false).check(REQUEST);
    expect(performance.now() - began).toBeLessThan(7_000);
  });
});
