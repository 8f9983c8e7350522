import { describe, expect, it, vi } from 'vitest';
import type { Fact } from './fact.js';
import { levelOf, logToNest } from './fact-level.js';
import { Journal } from './journal.js';

const completed: Fact = {
  event: 'job.completed',
  queue: 'q',
  kind: 'k',
  jobId: '1',
  owner: 'trip:42',
  tookMs: 1,
  lifetimeMs: 2,
};
const failed: Fact = { ...completed, event: 'job.failed', why: 'no', final: true };

describe('the journal', () => {
  it('reaches every listener and the publisher, even if some of them fail', () => {
    const warned = vi.spyOn(process, 'emitWarning').mockReturnValue();
    const heard: unknown[] = [];
    const fails = (): never => {
      throw new Error('no');
    };
    const publisher = { publish: (fact: Fact) => (heard.push(['out', fact]), undefined) };
    const journal = new Journal({
      connection: {},
      listeners: [fails, (fact) => heard.push(fact)],
      publisher,
    });

    journal.tell(completed);
    journal.tellHere(failed);

    expect(heard).toEqual([completed, ['out', completed], failed]);
    expect(warned).toHaveBeenCalledTimes(2);
    warned.mockRestore();
  });

  it('reports the same trouble once in half a minute', () => {
    const heard: Fact[] = [];
    const journal = new Journal({ connection: {}, listeners: [(fact) => heard.push(fact)] });
    for (const at of [0, 1_000, 29_999, 30_000]) journal.trouble('Queue q', new Error('away'), {}, at);
    journal.trouble('Queue q', new Error('full'), {}, 30_001);
    expect(heard.map((fact) => 'why' in fact && fact.why)).toEqual(['away', 'away', 'full']);
  });

  it('is logged by Nest when there is no listener, with a level for what needs attention', () => {
    const logger = { warn: vi.fn(), log: vi.fn(), debug: vi.fn() };
    const listener = logToNest(logger as never);
    listener(failed);
    listener({ event: 'queue.paused', queue: 'q', by: 'ops' });
    listener(completed);
    expect([logger.warn, logger.log, logger.debug].map(({ mock }) => mock.calls.length)).toEqual([1, 1, 1]);
    expect(levelOf({ ...failed, final: false })).toBe('info');
    expect(levelOf({ ...failed, event: 'job.cancelled' })).toBe('debug');
  });
});
