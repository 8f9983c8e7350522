import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Receipt } from './cancel/receipts.js';
import { Journal, type Fact } from './journal.js';
import type { LifecycleOptions } from './options.js';
import type { SweepRecord } from './sweep/sweep.record.js';

const job = { queue: 'q', kind: 'k', jobId: 'q-1', owner: 'trip:42' };

describe('the journal', () => {
  let facts: Fact[];
  let journal: Journal;

  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['Date'], now: 1_000_000 });
    facts = [];
    journal = new Journal({ listeners: [(fact: Fact) => facts.push(fact)] } as unknown as LifecycleOptions);
  });

  afterEach(() => {
    vi.useRealTimers();
  });

  it('tells each fact about a job with the same four fields', () => {
    journal.jobAccepted(job);
    journal.jobBegan(job, 5);
    journal.jobCompleted(job, 7, 12);
    journal.jobFailed(job, 7, new Error('broken'));
    journal.jobFailed(job, 7, new Error('broken'), 30);
    journal.jobHandedBack(job, 'shutdown');
    expect(facts).toEqual([
      { event: 'job.accepted', ...job },
      { event: 'job.began', ...job, waitedMs: 5 },
      { event: 'job.completed', ...job, tookMs: 7, lifetimeMs: 12 },
      { event: 'job.failed', ...job, tookMs: 7, why: 'broken', final: false },
      { event: 'job.failed', ...job, tookMs: 7, why: 'broken', final: true, lifetimeMs: 30 },
      { event: 'job.handed-back', ...job, why: 'shutdown' },
    ]);
  });

  it('tells what was cancelled by its receipt', () => {
    const receipt: Receipt = {
      cancelId: 'c-1',
      owner: 'trip:42',
      epoch: '7',
      reason: 'gone',
      by: 'ops',
      at: '2026-01-01T00:00:00.000Z',
      closed: true,
      removed: 2,
      aborted: 1,
      acknowledged: 0,
      ignored: 0,
      running: 1,
      byQueue: { q: { removed: { waiting: 2 }, aborted: 1, running: 1 } },
      schedules: 0,
      done: false,
      durable: true,
    };
    void journal.ownerCancelled(receipt);
    expect(facts).toEqual([{ event: 'owner.cancelled', ...receipt }]);
  });

  it('tells what happens to the worker', () => {
    journal.jobStalled('q', 'q-1');
    journal.workerStarted(['q'], ['k']);
    journal.workerDraining(2);
    journal.workerDrained(7, 1);
    expect(facts).toEqual([
      { event: 'job.stalled', queue: 'q', jobId: 'q-1' },
      { event: 'worker.started', queues: ['q'], kinds: ['k'] },
      { event: 'worker.draining', running: 2 },
      { event: 'worker.drained', tookMs: 7, stillRunning: 1 },
    ]);
  });

  it('tells every listener', () => {
    const heard: string[] = [];
    const listeners = ['a', 'b'].map((name) => (fact: Fact) => heard.push(`${name} ${fact.event}`));
    new Journal({ listeners } as unknown as LifecycleOptions).workerDraining(0);
    expect(heard).toEqual(['a worker.draining', 'b worker.draining']);
  });

  it('needs no listener', () => {
    expect(() => new Journal({} as LifecycleOptions).workerDraining(0)).not.toThrow();
  });

  it('takes what its teller breaks over for untold, and goes on', async () => {
    const warned = vi.spyOn(process, 'emitWarning').mockReturnValue();
    const answers: (() => Promise<boolean> | undefined)[] = [
      () => {
        throw new Error('broken');
      },
      () => Promise.reject(new Error('away')),
      () => Promise.resolve(true),
      () => undefined,
    ];
    const teller = { record: () => answers.shift()!() };
    const told = new Journal({ teller } as unknown as LifecycleOptions);
    const record = { sweepId: 's-1', state: 'done' } as SweepRecord;
    expect(await told.sweepEnded(record)).toBe(false);
    expect(await told.tellAgain({ event: 'worker.draining', running: 0 })).toBe(false);
    expect(await told.sweepEnded(record)).toBe(true);
    expect(told.sweepEnded(record)).toBeUndefined();
    expect(warned.mock.calls.map(([error]) => (error as Error).message)).toEqual(['broken', 'away']);
    warned.mockRestore();
  });

  it('says once what a queue suffers again and again', () => {
    for (let i = 0; i < 5; i += 1) journal.queueError('q', new Error('ECONNREFUSED'));
    expect(facts).toEqual([{ event: 'queue.error', queue: 'q', why: 'ECONNREFUSED' }]);
  });

  it('says it again when half a minute has passed', () => {
    journal.queueError('q', new Error('ECONNREFUSED'));
    vi.setSystemTime(1_000_000 + 29_999);
    journal.queueError('q', new Error('ECONNREFUSED'));
    expect(facts).toHaveLength(1);
    vi.setSystemTime(1_000_000 + 30_000);
    journal.queueError('q', new Error('ECONNREFUSED'));
    expect(facts).toHaveLength(2);
  });

  it('says another trouble at once', () => {
    journal.queueError('q', new Error('ECONNREFUSED'));
    journal.queueError('q', 'LOADING');
    expect(facts).toEqual([
      { event: 'queue.error', queue: 'q', why: 'ECONNREFUSED' },
      { event: 'queue.error', queue: 'q', why: 'LOADING' },
    ]);
  });

  it('says each of two troubles once when they take turns', () => {
    for (let i = 0; i < 5; i += 1) {
      journal.queueError('q', new Error('ECONNREFUSED'));
      journal.queueError('q', new Error('Connection is closed.'));
    }
    expect(facts).toEqual([
      { event: 'queue.error', queue: 'q', why: 'ECONNREFUSED' },
      { event: 'queue.error', queue: 'q', why: 'Connection is closed.' },
    ]);
  });

  it('says once of each type of owner that nobody resolves it, and of no more than a thousand', () => {
    for (let i = 0; i < 1_100; i += 1) journal.resolverMissing(`t${i}`);
    expect(facts).toHaveLength(1_000);
    vi.setSystemTime(2_000_000);
    for (const type of ['t0', 't999', 't1099']) journal.resolverMissing(type);
    expect(facts).toHaveLength(1_000);
  });

  it('names what a sweep could do nothing with, and does not take it for a queue', () => {
    for (const what of ['q-1', 'q-2']) journal.sweepTrouble('retention', what, new Error('EACCES'));
    journal.sweepTrouble('artifacts', 'q-3', new Error('EACCES'));
    expect(facts).toEqual([
      { event: 'sweep.trouble', sweep: 'retention', what: 'q-1', why: 'EACCES' },
      { event: 'sweep.trouble', sweep: 'artifacts', what: 'q-3', why: 'EACCES' },
    ]);
  });

  it('names an error without words by its code', () => {
    journal.queueError('q', Object.assign(new AggregateError([], ''), { code: 'ECONNREFUSED' }));
    expect(facts).toEqual([{ event: 'queue.error', queue: 'q', why: 'ECONNREFUSED' }]);
  });
});
