import { beforeEach, describe, expect, it } from 'vitest';
import { until } from '../../../../test/support/until.js';
import { HealthBook } from '../health/health.js';
import { createLog } from '../log/log.js';
import { Shutdown } from './shutdown.js';

describe('a shutdown', () => {
  let events: string[];
  let lines: Record<string, unknown>[];
  let exits: number[];
  let health: HealthBook;

  const shutdownWithin = (timeoutMs: number, readyDelayMs = 0): Shutdown => {
    const write = (line: string): number => lines.push(JSON.parse(line));
    const log = createLog('test', { LOG_LEVEL: 'info', LOG_FORMAT: 'json' }, { write });
    return new Shutdown(log, health, timeoutMs, readyDelayMs, (code) => exits.push(code));
  };
  const step = (name: string): { name: string; run: () => Promise<unknown> } => ({
    name,
    run: async () => events.push(name),
  });

  beforeEach(() => {
    events = [];
    lines = [];
    exits = [];
    health = new HealthBook();
  });

  it('closes in reverse order of opening, then exits with 0', async () => {
    const shutdown = shutdownWithin(5_000);
    for (const name of ['store', 'server', 'application']) shutdown.add(step(name));
    await shutdown.begin('SIGTERM');
    expect({ events, exits }).toEqual({ events: ['application', 'server', 'store'], exits: [0] });
  });

  it('begins a step when the previous one has ended', async () => {
    const shutdown = shutdownWithin(5_000);
    shutdown.add(step('second'));
    let endFirst = (): void => undefined;
    shutdown.add({ name: 'first', run: () => new Promise<void>((resolve) => (endFirst = resolve)) });
    const done = shutdown.begin('SIGTERM');
    await Promise.resolve();
    expect(events).toEqual([]);
    endFirst();
    await done;
    expect(events).toEqual(['second']);
  });

  it('continues when a step fails, and names the step', async () => {
    const shutdown = shutdownWithin(5_000);
    shutdown.add(step('store'));
    shutdown.add({ name: 'server', run: () => Promise.reject(new Error('stuck')) });
    await shutdown.begin('SIGTERM');
    expect({ events, exits }).toEqual({ events: ['store'], exits: [0] });
    expect(lines.filter(({ event }) => event === 'shutdown.step-failed')).toMatchObject([
      { step: 'server', err: { message: 'stuck' }, msg: 'server failed during shutdown' },
    ]);
  });

  it('continues when a step throws at once', async () => {
    const shutdown = shutdownWithin(5_000);
    shutdown.add(step('store'));
    shutdown.add({
      name: 'server',
      run: () => {
        throw new Error('broken');
      },
    });
    await shutdown.begin('SIGTERM');
    expect({ events, exits }).toEqual({ events: ['store'], exits: [0] });
  });

  it('logs its start, its reason and its end', async () => {
    await shutdownWithin(5_000).begin('SIGTERM');
    expect(lines).toMatchObject([
      { event: 'shutdown.began', why: 'SIGTERM', msg: 'Shutting down (SIGTERM)' },
      { event: 'shutdown.done', tookMs: expect.any(Number), msg: 'Shutdown complete' },
    ]);
  });

  it('ignores a second signal', async () => {
    const shutdown = shutdownWithin(5_000);
    shutdown.add(step('store'));
    const first = shutdown.begin('SIGTERM');
    expect(shutdown.begin('SIGINT')).toBe(first);
    await first;
    await shutdown.begin('SIGINT');
    expect({ events, exits }).toEqual({ events: ['store'], exits: [0] });
  });

  it('makes the process not ready before the first step', async () => {
    const shutdown = shutdownWithin(5_000);
    const seen: unknown[] = [];
    shutdown.add({ name: 'application', run: async () => seen.push(await health.ready()) });
    await shutdown.begin('SIGTERM');
    expect(seen).toEqual([{ ok: false, why: ['draining'] }]);
  });

  it('exits with 1 when a step exceeds the time limit', async () => {
    const shutdown = shutdownWithin(30);
    shutdown.add(step('store'));
    shutdown.add({ name: 'application', run: () => new Promise(() => undefined) });
    void shutdown.begin('SIGTERM');
    await until(() => exits.length > 0, 'it exits');
    expect({ events, exits }).toEqual({ events: [], exits: [1] });
    expect(lines.at(-1)).toMatchObject({
      event: 'shutdown.forced',
      msg: 'Shutdown did not finish within 30 ms; exiting',
    });
  });

  it('also closes what was opened after it had begun', async () => {
    const shutdown = shutdownWithin(5_000);
    shutdown.add(step('store'));
    shutdown.add({
      name: 'server',
      run: async () => {
        events.push('server');
        shutdown.add(step('application'));
      },
    });
    await shutdown.begin('SIGTERM');
    expect({ events, exits }).toEqual({ events: ['server', 'application', 'store'], exits: [0] });
  });

  it('runs a last step after those that were added later', async () => {
    const shutdown = shutdownWithin(5_000);
    shutdown.add(step('store'));
    shutdown.addLast(step('health server'));
    shutdown.add(step('application'));
    await shutdown.begin('SIGTERM');
    expect(events).toEqual(['application', 'store', 'health server']);
  });

  it('makes the process not ready at a signal, and waits for its delay before the first step', async () => {
    const shutdown = shutdownWithin(5_000, 50);
    const began = performance.now();
    shutdown.add(step('application'));
    const done = shutdown.obey('SIGTERM');
    expect(await health.ready()).toEqual({ ok: false, why: ['draining'] });
    expect(events).toEqual([]);
    await done;
    expect(events).toEqual(['application']);
    expect(performance.now() - began).toBeGreaterThan(49);
  });

  it('does not wait for its delay after a fault', async () => {
    const shutdown = shutdownWithin(5_000, 60_000);
    shutdown.add(step('application'));
    await shutdown.begin('the store must not be used', 1);
    expect({ events, exits }).toEqual({ events: ['application'], exits: [1] });
  });
});
