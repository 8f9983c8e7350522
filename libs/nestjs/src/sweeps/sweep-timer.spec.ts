import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { SweepTimer } from './sweep-timer.js';

const EVERY_MS = 30_000;

interface Turn {
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

describe('the timer of a sweep', () => {
  const logger = { error: vi.fn(), warn: vi.fn() };
  let turns: Turn[];
  let timer: SweepTimer;

  beforeEach(() => {
    vi.useFakeTimers();
    turns = [];
    timer = new SweepTimer('The sweep', EVERY_MS, () => begin(), logger);
  });

  afterEach(() => {
    vi.useRealTimers();
    vi.clearAllMocks();
  });

  function begin(): Promise<void> {
    return new Promise((resolve, reject) => turns.push({ resolve, reject }));
  }

  const later = (ms = EVERY_MS) => vi.advanceTimersByTimeAsync(ms);

  it('sweeps at the start and in every interval', async () => {
    timer.start();
    turns.at(-1)!.resolve();
    await later();
    turns.at(-1)!.resolve();
    await later();

    expect(turns).toHaveLength(3);
  });

  it('never sweeps twice at once', async () => {
    timer.start();
    await later(3 * EVERY_MS);
    const joined = timer.runOnce();
    expect(turns).toHaveLength(1);

    turns[0]!.resolve();
    await joined;
    await later();

    expect(turns).toHaveLength(2);
  });

  it('continues after an error', async () => {
    timer.start();
    turns[0]!.reject(new Error('away'));
    await later();

    expect(turns).toHaveLength(2);
    expect(logger.error).toHaveBeenCalledTimes(1);
  });

  it('stops when the current sweep has ended', async () => {
    timer.start();
    const stopped = vi.fn();
    const stopping = timer.stop().then(stopped);
    await later(100);
    expect(stopped).not.toHaveBeenCalled();

    turns[0]!.resolve();
    await stopping;
    await later();

    expect(turns).toHaveLength(1);
  });
});

describe('the log of an outage', () => {
  const logger = { error: vi.fn(), warn: vi.fn() };
  const away = new Error('away');
  const lines = () => [logger.error.mock.calls.length, logger.warn.mock.calls.length];
  let error: Error | undefined;
  let timer: SweepTimer;

  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['Date'] });
    vi.clearAllMocks();
    const sweepOnce = async (): Promise<void> => {
      if (error) throw error;
    };
    timer = new SweepTimer('The sweep', EVERY_MS, sweepOnce, logger);
  });

  afterEach(() => vi.useRealTimers());

  function turn(at: number, outcome?: Error): Promise<void> {
    vi.setSystemTime(at);
    error = outcome;
    return timer.runOnce();
  }

  it('starts with an error and continues with a warning a minute', async () => {
    for (let seconds = 0; seconds <= 150; seconds += 30) await turn(seconds * 1_000, away);

    expect(lines()).toEqual([1, 2]);
    expect(logger.error).toHaveBeenCalledWith('The sweep failed: away', away.stack);
    expect(logger.warn).toHaveBeenCalledWith('The sweep still fails: away');
  });

  it('has a different error at once', async () => {
    await turn(0, away);
    await turn(1, new Error('full'));

    expect(lines()).toEqual([2, 0]);
  });

  it('has an error for the next outage, unless the same error was logged within the minute', async () => {
    await turn(0, away);
    await turn(1);
    await turn(59_999, away);
    expect(lines()).toEqual([1, 0]);

    await turn(60_000, away);
    expect(lines()).toEqual([2, 0]);
  });
});
