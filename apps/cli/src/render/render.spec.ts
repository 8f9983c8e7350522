import { describe, expect, it } from 'vitest';
import type { Job, Owner, Receipt } from '../answers.js';
import { plain } from '../output.js';
import { Refused, Unreachable } from '../problems.js';
import { renderJob } from '../commands/job.js';
import { renderHistory, renderOwner, renderOwnerJobs } from '../commands/owner.js';
import { renderProblem } from './problem.js';
import { renderQueues } from '../commands/queues.js';
import { renderReceipt } from '../commands/receipt.js';
import { renderSweep } from '../commands/sweep.js';
import { table } from './table.js';
import { renderFailure, renderProgress, renderTally, Tally } from './tally.js';
import { quote, span } from './text.js';
import { width as columnsOf } from './width.js';

const aReceipt: Receipt = {
  cancelId: 'c-1',
  owner: 'trip:42',
  epoch: '7',
  reason: 'the ride is off',
  by: 'shop',
  at: '2026-01-02T03:00:00.000Z',
  closed: true,
  removed: 12,
  aborted: 2,
  acknowledged: 0,
  ignored: 0,
  running: 2,
  byQueue: {
    offers: { removed: { waiting: 8, delayed: 3 }, aborted: 2, running: 2 },
    media: { removed: { waiting: 1 }, aborted: 0, running: 0 },
  },
  schedules: 0,
  done: false,
  durable: true,
};

describe('renderReceipt', () => {
  it('starts with a summary, followed by counts per queue, facts, and next steps', () => {
    expect(renderReceipt(aReceipt, false, plain)).toBe(`\
trip:42 is cancelled: 12 waiting jobs removed, 2 running jobs told to stop. \
2 still running: a run that does not stop in time is abandoned. New work for it is refused until it is reopened.

queue   waiting  delayed  told to stop  still running
offers        8        3             2              2
media         1        0             0              0

reason    the ride is off
by        shop, at 2026-01-02T03:00:00.000Z
cancelId  c-1
durable   yes

Next
  mooring receipt c-1               show its current state
  mooring reopen trip 42            accept new work again; cancelled jobs stay cancelled
  mooring owner trip 42 --history   list each removed job`);
  });

  const nothing = { removed: 0, aborted: 0, running: 0, byQueue: {}, done: true };
  it.each<[string, Partial<Receipt>, boolean, string]>([
    [
      'of an owner without jobs',
      { ...nothing, closed: false },
      false,
      'trip:42 is cancelled: it had no jobs. Nothing is running. New work for it is accepted.',
    ],
    [
      'of an owner whose jobs are still being removed',
      { ...nothing, closed: false, done: false },
      false,
      'trip:42 is cancelled: its jobs do not start any more and are being removed. ' +
        'Nothing is running; clean-up is in progress. New work for it is accepted.',
    ],
    [
      'of an owner with only a schedule',
      { ...nothing, schedules: 1, closed: false },
      false,
      'trip:42 is cancelled: 1 schedule ended. Nothing is running. New work for it is accepted.',
    ],
    [
      'of a flow',
      { ...nothing, job: 'probe-1', removed: 3, aborted: 1, closed: false },
      false,
      'Job probe-1 is cancelled: together with its descendants in the flow, 3 waiting jobs removed, ' +
        '1 running job told to stop. Nothing is running.',
    ],
    [
      'that is read later',
      { removed: 1, aborted: 2, running: 1, ignored: 1 },
      true,
      'trip:42 was cancelled: 1 waiting job removed, 2 running jobs told to stop. ' +
        '1 still running: a run that does not stop in time is abandoned. ' +
        '1 did not stop and was abandoned: the code may still run, but its result is discarded. ' +
        'Since then, new work for it is refused until it is reopened.',
    ],
    [
      'of one job',
      { ...nothing, job: 'probe-1', removed: 1, closed: false },
      false,
      'Job probe-1 is cancelled: it was waiting and is removed. Nothing is running.',
    ],
    [
      'of one running job',
      { ...nothing, job: 'probe-1', aborted: 1, closed: false },
      true,
      'Job probe-1 was cancelled: it was running and was told to stop. Nothing is running.',
    ],
    [
      'of an owner with control characters in its name',
      { ...nothing, owner: 'trip:\u001b[2J\n', closed: false },
      false,
      'trip:\\u001b[2J\\n is cancelled: it had no jobs. Nothing is running. New work for it is accepted.',
    ],
  ])('summarises the receipt %s', (_what, more, isLater, sentence) => {
    expect(renderReceipt({ ...aReceipt, ...more }, isLater, plain).split('\n')[0]).toBe(sentence);
  });

  it('warns when the store may lose the cancellation', () => {
    expect(renderReceipt({ ...aReceipt, durable: false }, false, plain)).not.toContain('durable');
    expect(renderReceipt({ ...aReceipt, durable: false, mustBeDurable: true }, false, plain)).toContain(
      '\ndurable   not confirmed; if the store fails, read this receipt again\n',
    );
  });
});

describe('renderJob', () => {
  const job: Job = {
    id: 'probe-1',
    kind: 'probe',
    queue: 'probe',
    owners: ['trip:42', 'driver:7'],
    state: 'failed',
    progress: 50,
    result: null,
    error: 'no\nway',
    attempts: 2,
    artifacts: [],
    timeline: [
      { at: '2026-01-02T03:00:00.000Z', event: 'accepted' },
      { at: '2026-01-02T03:00:00.250Z', event: 'began', attempt: 2 },
      { at: '2026-01-02T03:01:20.000Z', event: 'failed', why: 'no way' },
    ],
  };

  it('shows the job and its timeline', () => {
    expect(renderJob(job, plain)).toBe(`\
probe-1 failed.

kind      probe (queue probe)
owners    trip:42, driver:7
attempts  2
progress  50
error     no\\nway

at                        since    event     attempt  why
2026-01-02T03:00:00.000Z           accepted
2026-01-02T03:00:00.250Z  +250ms   began           2
2026-01-02T03:01:20.000Z  +1m 20s  failed             no way`);
  });

  it('lists the artifacts of the job', () => {
    const [contentType, sha256, href] = ['text/plain', 'e3b0', '/v1/jobs/probe-1/artifacts/a'];
    const artifacts = [
      { name: 'plan.svg', size: 2_048, contentType, sha256, href },
      { name: 'no\nte', size: 1, contentType, sha256, href },
    ];
    expect(renderJob({ ...job, artifacts }, plain)).toContain(
      '\nartifacts  plan.svg (2048 bytes), no\\nte (1 byte)\n',
    );
  });

  it('shows only the reason and the timeline of a removed job', () => {
    const why = 'cancelled by ops: the ride is off (it was waiting)';
    const timeline: Job['timeline'] = [{ at: '2026-01-02T03:00:00.000Z', event: 'removed', why }];
    const removed: Job = { ...job, state: 'removed', progress: null, error: why, attempts: 0, timeline };
    expect(renderJob(removed, plain)).toBe(`\
probe-1 was removed: ${why}.

kind    probe (queue probe)
owners  trip:42, driver:7

at                        since  event    attempt  why
2026-01-02T03:00:00.000Z         removed           ${why}`);
  });
});

describe('renderOwner', () => {
  const owner: Omit<Owner, 'counts'> = {
    owner: 'trip:42',
    state: 'closed',
    epoch: '7',
    jobs: [],
    cursor: null,
  };

  it('shows a sentence about the owner and a table of its jobs', () => {
    expect(renderOwner({ ...owner, counts: { jobs: 3, running: 1, ending: 0 } }, plain)).toBe(
      'trip:42 is closed (new work is refused), with 3 unfinished jobs, 1 of them running.',
    );
    expect(renderOwner({ ...owner, epoch: null, counts: { jobs: 0, running: 0, ending: 0 } }, plain)).toBe(
      'trip:42 has no unfinished jobs.',
    );
    expect(renderOwner({ ...owner, counts: { jobs: 0, running: 1, ending: 2 } }, plain)).toBe(
      'trip:42 is closed (new work is refused), with no unfinished jobs, 2 cancelled and being removed, 1 of them running.',
    );
    const jobs = [{ id: 'probe-1', queue: 'probe', acceptedAt: '2026-01-02T03:00:00.000Z', hasBegun: true }];
    expect(renderOwnerJobs(jobs, plain)).toBe(`\
job      queue  accepted                  begun
probe-1  probe  2026-01-02T03:00:00.000Z  yes`);
  });

  it('shows the removed jobs', () => {
    const one = { id: 'probe-1', queue: 'probe', at: '2026-01-02T03:00:00.000Z', why: 'cancelled' };
    const entries = [
      { ...one, kind: 'probe', state: 'waiting', by: 'shop', reason: 'it is off', cancelId: 'c-1' },
      { ...one, state: 'gone' },
    ];
    expect(renderHistory(entries, plain)).toBe(`\
at                        job      kind   was      why                           cancelId
2026-01-02T03:00:00.000Z  probe-1  probe  waiting  cancelled by shop: it is off  c-1
2026-01-02T03:00:00.000Z  probe-1         gone     cancelled`);
  });
});

describe('renderQueues', () => {
  it('shows counts and the age of the oldest waiting job', () => {
    const queues = [
      {
        queue: 'probe',
        counts: { completed: 5, waiting: 1200, 'waiting-children': 0 },
        oldestWaitingMs: 61_000,
        paused: false,
      },
      { queue: 'media', counts: { waiting: 0, odd: 1 }, oldestWaitingMs: null, paused: true },
    ];
    expect(renderQueues({ queues }, plain)).toBe(`\
queue           waiting  delayed  active  completed  failed  odd  oldest waiting
probe              1200        0       0          5       0    0  1m 1s
media (paused)        0        0       0          0       0    1  -`);
  });
});

describe('renderSweep', () => {
  it('shows why a sweep tripped and what to do', () => {
    const sweep = { state: 'tripped', seen: 100, removed: 0, tookMs: 1_500, why: 'too many' } as const;
    expect(renderSweep('orphans', sweep, false, plain)).toBe(`\
Sweep orphans: tripped (too many).

seen     100
removed  0
took     1.5s

The sweep would have removed too much at once. It removes nothing until an operator acknowledges or forces it.

mooring sweep orphans --dry-run --force  show what it would remove
mooring sweep orphans --acknowledge      the cause is fixed: sweep again, within the limit
mooring sweep orphans --force            the removal is right: remove all of it, once`);
  });

  it('marks a dry run', () => {
    expect(renderSweep('repair', { state: 'done', removed: 3 }, true, plain)).toBe(`\
Sweep repair: done. Dry run: nothing was removed.

would remove  3`);
  });
});

describe('renderProblem', () => {
  it('shows the code and the requestId of a refusal', () => {
    const problem = { status: 503, code: 'STORE_UNAVAILABLE', detail: 'No store.', requestId: 'r-1' };
    expect(renderProblem(new Refused(503, problem, '2', 'http://a'), plain)).toBe(`\
mooring: No store.
  code STORE_UNAVAILABLE (503), requestId r-1
  Try again in 2 s.`);
  });

  it('names the address when no Mooring API answers', () => {
    expect(renderProblem(new Refused(404, undefined, undefined, 'http://a'), plain)).toBe(
      'mooring: http://a answered 404, but not like a Mooring API. Is the URL right?',
    );
    expect(renderProblem(new Unreachable('http://a', 'ECONNREFUSED'), plain)).toBe(`\
mooring: No answer from the API at http://a (ECONNREFUSED).
Is it running? Set another address with --url or MOORING_URL.`);
  });
});

describe('renderTally', () => {
  it('shows totals, failures, and how to continue', () => {
    const tally = new Tally(4);
    tally.cancelled(aReceipt);
    tally.cancelled({ ...aReceipt, running: 0 });
    const problem = { status: 400, code: 'INVALID', detail: 'No.', requestId: 'r-1' };
    tally.failed(
      { owner: { type: 'trip', id: '9' }, line: 7 },
      new Refused(400, problem, undefined, 'http://a'),
    );

    expect(renderProgress(tally)).toBe('██████████████████░░░░░░ 3 of 4, 1 failed');
    expect(tally.failures.map((one) => renderFailure(one, plain))).toEqual([
      'line 7: trip:9 INVALID: No. (requestId r-1)',
    ]);
    expect(renderTally(tally, 'run-1', plain)).toBe(`\
2 of 4 cancelled: 24 jobs removed, 4 told to stop. 2 still running.
1 failed, 1 not tried. To continue, repeat the command with --run run-1`);
  });
});

describe('text helpers', () => {
  it('align the columns of a table', () => {
    expect(
      table(
        ['a', 'long name'],
        [
          ['é🙂x', 1],
          ['', 100],
        ],
        plain,
      ),
    ).toBe('a     long name\né🙂x          1\n            100');
  });

  const jobs = (width: number): string[] =>
    table(
      ['job', ['queue', 'drop'], 'state', ['error', 'cut']],
      [
        ['media-1234567890', 'media', 'failed', 'The server answered 503, three times in a row'],
        ['media-0987654321', 'media', 'failed', '接続がタイムアウトしました。もう一度お試しください'],
      ],
      { ...plain, width },
    ).split('\n');

  it.each([
    [80, 'media-1234567890  media  failed  The server answered 503, three times in a row'],
    [60, 'media-1234567890  media  failed  The server answered 503, t…'],
    [50, 'media-1234567890  failed  The server answered 503…'],
    [40, 'media-1234567890  failed  The server an…'],
    [30, 'media-…67890  failed  The ser…'],
    [12, 'me…90  The …'],
  ])('fit a table into %d columns', (width, line) => {
    expect(jobs(width)[1]).toBe(line);
    expect(
      jobs(width)
        .map(columnsOf)
        .filter((columns) => columns > width),
    ).toEqual([]);
  });

  it('cut wide characters by the columns they take', () => {
    expect(jobs(50)[2]).toBe('media-0987654321  failed  接続がタイムアウトしま…');
    expect(['a', 'é', 'e\u0301', '界', '👩‍🚀', '🇩🇪', '☎️'].map(columnsOf)).toEqual([1, 1, 1, 2, 2, 2, 2]);
  });

  it('quote words for a shell and shorten durations', () => {
    expect(['a:b', "it's $HOME", ''].map(quote)).toEqual(['a:b', "'it'\\''s $HOME'", "''"]);
    expect([0, 999, 1_999, 59_000, 60_000, 3_725_000, 90_000_000].map(span)).toEqual([
      '0ms',
      '999ms',
      '1.9s',
      '59s',
      '1m',
      '1h 2m',
      '1d 1h',
    ]);
  });
});
