import 'reflect-metadata';
import { WorkloadStore } from '#workload-kit';
import { Redis } from 'ioredis';
import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { until } from '../../../../test/support/until.js';
import type { DiagramState, DiagramView } from './diagram.js';
import { BackpressureError, DiagramWaiter } from './diagram-waiter.js';
import type { DiagramRepository } from './diagram-repository.js';
import type { DiagramsService } from './diagrams.service.js';

const LONG_MS = 60_000;

describe('waiting for a picture', () => {
  const channel = `test-${randomBytes(6).toString('hex')}`;
  let redis: Redis;
  let state: DiagramState;
  let looks: number;
  let waits: DiagramWaiter;
  beforeEach(() => {
    redis = new Redis(inject('storeUrl'));
    [state, looks] = ['pending', 0];
    waits = waitsFor(LONG_MS);
  });
  afterEach(async () => {
    waits.onModuleDestroy();
    await redis.quit();
  });

  function look(): Promise<DiagramView> {
    looks += 1;
    return Promise.resolve({ state } as DiagramView);
  }

  function waitsFor(waitMs: number, connection = redis): DiagramWaiter {
    return new DiagramWaiter(
      { heavySlots: 1, waitMs },
      new WorkloadStore(connection, ''),
      { overChannel: channel } as DiagramRepository,
      { view: look } as unknown as DiagramsService,
    );
  }

  const noAbort = (): AbortSignal => new AbortController().signal;

  async function listeners(): Promise<number> {
    const [, count] = (await redis.pubsub('NUMSUB', channel)) as [string, number];
    return count;
  }

  it('ends as soon as it is drawn, without needless reads', async () => {
    const waiting = waits.untilOver('a', look, noAbort());
    await until(async () => looks > 0 && (await listeners()) === 1, 'it listens, and has looked');
    state = 'completed';
    const began = performance.now();
    await redis.publish(channel, 'b');
    await redis.publish(channel, 'a');
    expect(await waiting).toEqual({ state: 'completed' });
    expect(performance.now() - began).toBeLessThan(500);
    expect(looks).toBeLessThanOrEqual(3);
    expect(waits.size).toBe(0);
  });

  it('ends after a poll when the message is lost', async () => {
    const waiting = waits.untilOver('a', look, noAbort());
    await until(() => looks > 0, 'it has looked');
    state = 'failed';
    expect(await waiting).toEqual({ state: 'failed' });
  });

  it.each(['the time is over', 'the caller hangs up', 'the process ends'])('stops when %s', async (why) => {
    const caller = new AbortController();
    if (why === 'the time is over') waits = waitsFor(100);
    const waiting = waits.untilOver('a', look, caller.signal);
    await until(() => looks > 0, 'it has looked');
    if (why === 'the caller hangs up') caller.abort();
    if (why === 'the process ends') waits.onModuleDestroy();
    expect(await waiting).toEqual({ state: 'pending' });
    expect(waits.size).toBe(0);
    if (why === 'the process ends')
      await until(async () => (await listeners()) === 0, 'noAbort listens any more');
  });

  it('ends at once when the store is unavailable, and when the time is over', async () => {
    const away = new Redis({ port: 1, maxRetriesPerRequest: null, lazyConnect: true });
    waits = waitsFor(200, away);
    const refused = waits.untilOver('a', () => Promise.reject(new Error('the store is away')), noAbort());
    await expect(refused).rejects.toThrow('the store is away');
    expect(await waits.untilOver('a', look, noAbort())).toEqual({ state: 'pending' });
    expect(waits.size).toBe(0);
    away.disconnect();
  });

  it('is limited in number; a further caller is refused at once', async () => {
    const callers = new AbortController();
    const waiting = Array.from({ length: 200 }, (_, i) => waits.untilOver(String(i), look, callers.signal));
    await until(() => looks >= 200, 'all of them wait');
    await expect(waits.untilOver('a', look, noAbort())).rejects.toThrow(BackpressureError);
    await until(async () => (await listeners()) === 1, 'one connection listens for all');
    callers.abort();
    await Promise.all(waiting);
    expect(waits.size).toBe(0);
    waits.checkRoom();
    waits.onModuleDestroy();
    expect(() => waits.checkRoom()).toThrow(BackpressureError);
  });
});
