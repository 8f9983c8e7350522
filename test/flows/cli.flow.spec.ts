import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Fleet } from '../support/fleet.js';
import { Mooring } from '../support/mooring.js';
import { freePort } from '../support/store.js';
import { until } from '../support/until.js';

const ID = /probe-[0-9A-Za-z]{20}/;

describe('mooring with a real fleet', () => {
  const KEY = 'a-key-for-all';
  let fleet: Fleet;
  let tool: Mooring;
  beforeAll(async () => {
    const sha256 = createHash('sha256').update(KEY).digest('hex');
    fleet = await Fleet.start({
      janitor: true,
      env: { API_KEYS: `all:enqueue+read+cancel+admin:${sha256}`, PROBE: 'on' },
    });
    tool = new Mooring({ MOORING_URL: fleet.url, MOORING_KEY: KEY });
  });
  afterAll(() => fleet.stop());

  it('enqueues a job, follows it to its end, and shows it', async () => {
    const asked = await tool.run([
      'enqueue',
      'probe',
      '--owner',
      'trip:1',
      '--payload',
      '{"ms":300,"artifactBytes":7}',
    ]);
    expect(asked).toMatchObject({ code: 0, stderr: '', stdout: expect.stringMatching(/^Created probe-/) });
    const [id] = ID.exec(asked.stdout)!;

    const watched = await tool.run(['job', id, '--watch']);
    expect(watched).toMatchObject({ code: 0, stderr: '' });
    expect(watched.stdout).toMatch(/ accepted\n(.*\n)*.* completed\n.* is completed\.\nResult: \{"ranMs"/);

    const read = await tool.run(['--json', 'job', id]);
    expect(JSON.parse(read.stdout)).toMatchObject({ id, state: 'completed', owners: ['trip:1'] });
    expect((await tool.run(['job', id])).stdout).toMatch(
      /^probe-\w+ is completed\.\n\nkind +probe \(queue probe\)\n(.*\n)*artifacts +probe\.bin \(7 bytes\)\n/,
    );
  });

  it('accepts every option of a job and a payload from standard input', async () => {
    const args = [
      'enqueue',
      'probe',
      '--owner=trip:2',
      '--owner',
      'driver:7',
      '--payload',
      '-',
      '--delay',
      '1h',
    ];
    const more = ['--expires-in', '2h', '--priority', '50', '--dedup', 'skip:a:b', '--slot', 'driver:7:1'];
    const keyed = [...args, ...more, '--idempotency-key', 'k-1', '--json'];
    const first = await tool.run(keyed, '{"ms":1}');
    expect(first).toMatchObject({ code: 0, stderr: '' });
    const ticket = JSON.parse(first.stdout) as { id: string };
    expect(ticket).toMatchObject({ outcome: 'created', owners: ['trip:2', 'driver:7'] });
    expect(JSON.parse((await tool.run(keyed, '{"ms":1}')).stdout)).toEqual(ticket);

    const twin = await tool.run([...args, ...more], '{"ms":1}');
    expect(twin.stdout).toBe(
      `Skipped: ${ticket.id} is already pending: probe in queue probe, for trip:2, driver:7.\n` +
        `To follow it: mooring job ${ticket.id} --watch\n`,
    );
  });

  it('lists each job of an owner once, over several pages', async () => {
    const jobs = Array.from({ length: 700 }, () => ({
      kind: 'probe',
      owners: ['site:a b/c'],
      payload: {},
      delay: '1h',
    }));
    const { body } = await fleet.request(
      'POST',
      '/v1/jobs/batch',
      { jobs },
      { authorization: `Bearer ${KEY}` },
    );
    const ids = (body['results'] as { id: string }[]).map(({ id }) => id).toSorted();

    const whole = JSON.parse((await tool.run(['owner', 'site', 'a b/c', '--json'])).stdout) as {
      jobs: { id: string }[];
    };
    expect(whole).toMatchObject({ owner: 'site:a b/c', state: 'open', counts: { jobs: 700 }, cursor: null });
    expect(whole.jobs.map(({ id }) => id).toSorted()).toEqual(ids);

    const told = await tool.run(['owner', 'site:a b/c']);
    expect(told.stdout).toMatch(/^site:a b\/c is open, with 700 unfinished jobs, 0 of them running\.\n/);
    expect(told.stdout.match(new RegExp(ID, 'g'))!.toSorted()).toEqual(ids);
  });

  it('exits quietly when the reader closes the pipe', async () => {
    const child = tool.start(['owner', 'site', 'a b/c']);
    child.stdout!.once('data', () => child.stdout!.destroy());
    let errors = '';
    child.stderr!.on('data', (chunk: Buffer) => (errors += chunk.toString()));
    expect([...(await once(child, 'close')), errors]).toEqual([0, null, '']);
  });

  it('exits on SIGINT while it follows a job', async () => {
    const asked = await tool.run(['enqueue', 'probe', '--owner', 'trip:3', '--delay', '1h', '--json']);
    const child = tool.start(['job', (JSON.parse(asked.stdout) as { id: string }).id, '--watch']);
    await once(child.stdout!, 'data');
    child.kill('SIGINT');
    expect(await once(child, 'close')).toEqual([null, 'SIGINT']);
  });

  it('prints the code and the requestId of a refusal and exits with 1', async () => {
    const args = ['enqueue', 'prob', '--owner', 'trip:1'];
    const told = await tool.run(args);
    expect(told).toMatchObject({ code: 1, stdout: '' });
    expect(told.stderr).toMatch(/^mooring: .*prob.*\n {2}code UNKNOWN_KIND \(404\), requestId [\w-]+\n$/);
    const asJson = await tool.run([...args, '--json']);
    expect(asJson).toMatchObject({ code: 1, stderr: '' });
    expect(JSON.parse(asJson.stdout)).toMatchObject({ code: 'UNKNOWN_KIND', status: 404 });

    const stranger = await tool.run(['job', 'x', '--key', 'guess']);
    expect(stranger.stderr).toMatch(
      /code UNAUTHORIZED \(401\).*\n {2}Set the key with MOORING_KEY or --key\.\n$/,
    );
  });

  it('cancels an owner and prints the receipt', async () => {
    const ids = [await ask('trip:42'), await ask('trip:42'), await ask('trip:42', '--delay', '2h')];
    const args = ['cancel', 'trip', '42', '--reason', 'it is off', '--cancel-id', 'c-1'];
    const { code, stdout, stderr } = await tool.run(args);
    expect([code, stderr, stdout.replace(/\S+Z$/m, '<when>')]).toEqual([
      0,
      '',
      `trip:42 is cancelled: 3 waiting jobs removed. Nothing is running. New work for it is refused \
until it is reopened.

queue  delayed
probe        3

reason    it is off
by        all, at <when>
cancelId  c-1

Next
  mooring reopen trip 42            accept new work again; cancelled jobs stay cancelled
  mooring owner trip 42 --history   list each removed job
  mooring receipt c-1               show this receipt again
`,
    ]);
    // Repeating the cancelId repeats no cancellation. For another owner the id is refused.
    expect((await tool.run(args)).stdout).toBe(stdout);
    expect((await tool.run(['receipt', 'c-1'])).stdout).toBe(
      stdout.replace('is cancelled', 'was cancelled').replace(' New work', ' Since then, new work'),
    );
    expect(await tool.run(['cancel', 'trip', '43', '--cancel-id', 'c-1'])).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/^mooring: The cancelId "c-1" .*\n {2}code IDEMPOTENCY_CONFLICT \(422\)/),
    });

    expect((await tool.run(['owner', 'trip', '42'])).stdout).toBe(
      'trip:42 is closed (new work is refused), with no unfinished jobs.\n\nEnded jobs are listed by: mooring jobs --owner trip:42\n',
    );
    const { stdout: history } = await tool.run(['owner', 'trip', '42', '--history']);
    expect(history.match(new RegExp(ID, 'g'))!.toSorted()).toEqual(ids.toSorted());
    expect(history).toMatch(/^at +job +kind +was +why +cancelId\n/);
    expect(history).toMatch(/ probe +delayed +cancelled by all: it is off +c-1\n$/);
    expect((await tool.run(['job', ids[0]!])).stdout).toMatch(
      /^probe-\w+ was removed: cancelled by all: it is off \(it was delayed\)\.\n/,
    );

    expect(await tool.run(['enqueue', 'probe', '--owner', 'trip:42'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('code OWNER_CLOSED (409)'),
    });
    expect((await tool.run(['reopen', 'trip:42'])).stdout).toBe(
      'trip:42 is open and accepts new work. Cancelled jobs stay cancelled.\n',
    );
    await ask('trip:42');
  });

  it('stops a running job and waits for it with --wait', async () => {
    const id = await ask('trip:50', '--payload', '{"ms":60000,"ignoreAbort":true}', '--delay', '0s');
    await fleetUntilRunning(id);
    const waited = await tool.run([
      'cancel',
      'trip:50',
      '--keep-open',
      '--wait',
      '300ms',
      '--cancel-id',
      'c-2',
    ]);
    expect(waited).toMatchObject({ code: 1, stderr: 'The wait is over and something still runs.\n' });
    expect(waited.stdout).toMatch(
      /^trip:50 is cancelled: 1 running job told to stop\. 1 still running: .* New work for it is accepted\.\n/,
    );
    expect(waited.stdout).toMatch(/\nqueue +told to stop +still running\nprobe +1 +1\n/);
    expect(waited.stdout).toContain('\n  mooring receipt c-2               show its current state\n');

    await until(async () => (await receipt('c-2'))['done'] === true, 'the cancellation is done');
    expect((await tool.run(['receipt', 'c-2'])).stdout).toMatch(
      /^trip:50 was cancelled: 1 running job told to stop\. Nothing is running\. 1 did not stop and was abandoned: /,
    );
  });

  it('cancels one job', async () => {
    const id = await ask('trip:60');
    const { code, stdout } = await tool.run(['cancel', '--job', id]);
    expect([code, stdout.split('\n')[0]]).toEqual([
      0,
      `Job ${id} is cancelled: it was waiting and is removed. Nothing is running.`,
    ]);
    expect((await tool.run(['owner', 'trip:60'])).stdout).toMatch(/^trip:60 has no unfinished jobs\.$/m);
    expect(await tool.run(['cancel', '--job', 'probe-12345678901234567890'])).toMatchObject({ code: 1 });
  });

  it('cancels many owners, and a repeated run spares jobs that were enqueued later', async () => {
    for (const trip of [71, 72, 73]) await ask(`trip:${trip}`);
    const list = '# rides\ntrip:71\n\ntrip:72\ntrip:73\n';
    const args = ['cancel', '--from', '-', '--reason', 'over', '--keep-open'];
    const first = await tool.run(args, list);
    expect([first.code, first.stdout]).toEqual([
      0,
      'All 3 cancelled: 3 jobs removed, 0 told to stop. Nothing is running.\n',
    ]);
    const [, run] = /^Run (\S+), 3 to cancel/.exec(first.stderr)!;
    const later = await ask('trip:72');
    const again = await tool.run([...args, '--run', run!, '--json'], list);
    const receipts = again.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(receipts.map(({ removed, reason, by }) => [removed, reason, by])).toEqual(
      [1, 2, 3].map(() => [1, 'over', 'all']),
    );
    expect(JSON.parse((await tool.run(['job', later, '--json'])).stdout)).toMatchObject({ state: 'delayed' });
  });

  it('shows the queues', async () => {
    const QUEUE =
      /^queue +waiting +delayed +active +completed +failed +oldest waiting\n(.*\n)*probe +0 +\d+ +\d+ +\d+ +\d+ +-\n/;
    expect((await tool.run(['queues'])).stdout).toMatch(QUEUE);
    expect((await tool.run(['top'])).stdout).toMatch(QUEUE);
    const { queues } = JSON.parse((await tool.run(['queues', '--json'])).stdout) as { queues: object[] };
    expect(queues).toContainEqual(
      expect.objectContaining({ queue: 'probe', oldestWaitingMs: null, paused: false }),
    );
  });

  it('runs a sweep and shows its result', async () => {
    const id = await ask('trip:80', '--expires-in', '1h');
    const dry = await tool.run(['sweep', 'expiry', '--dry-run']);
    expect(dry).toMatchObject({ code: 0, stderr: expect.stringMatching(/^Sweep sweep-\S+ requested\. /) });
    expect(dry.stdout).toMatch(
      /^Sweep expiry: done\. Dry run: nothing was removed\.\n\nseen +\d+\nwould remove +0\n/,
    );
    expect((await tool.run(['sweep', 'orphans', '--acknowledge'])).stdout).toMatch(
      /^Sweep orphans: done.*\.\n\nseen +\d+\nremoved +0\n/,
    );
    const forced = await tool.run(['sweep', 'retention', '--force', '--json']);
    expect(forced).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(forced.stdout)).toMatchObject({ sweep: 'retention', state: 'done', force: true });
    expect(JSON.parse((await tool.run(['job', id, '--json'])).stdout)).toMatchObject({ state: 'delayed' });
  });

  /** Enqueues a job and returns its id. Without `--delay` it is due in an hour. */
  async function ask(owner: string, ...more: string[]): Promise<string> {
    const delay = more.includes('--delay') ? [] : ['--delay', '1h'];
    const asked = await tool.run(['enqueue', 'probe', '--owner', owner, ...delay, ...more, '--json']);
    expect(asked).toMatchObject({ code: 0, stderr: '' });
    return (JSON.parse(asked.stdout) as { id: string }).id;
  }

  async function receipt(cancelId: string): Promise<Record<string, unknown>> {
    const headers = { authorization: `Bearer ${KEY}` };
    return (await fleet.request('GET', `/v1/cancellations/${cancelId}`, undefined, headers)).body;
  }

  async function fleetUntilRunning(id: string): Promise<void> {
    const headers = { authorization: `Bearer ${KEY}` };
    await until(async () => {
      const { body } = await fleet.request('GET', `/v1/jobs/${id}`, undefined, headers);
      return body['state'] === 'running' && body['progress'] !== 0;
    }, 'its handler runs');
  }
});

describe('mooring', () => {
  const tool = new Mooring({});

  it('names the address that gave no answer and exits with 3', async () => {
    const url = `http://127.0.0.1:${await freePort()}`;
    expect(await tool.run(['--url', url, 'job', 'probe-1'])).toMatchObject({
      code: 3,
      stdout: '',
      stderr: `mooring: No answer from the API at ${url} (ECONNREFUSED).
Is it running? Set another address with --url or MOORING_URL.
`,
    });
  });

  it.each([
    [['cancle', 'trip:1'], 'Unknown command "cancle". Did you mean cancel?', 'mooring --help'],
    [['job', 'x', '--wacth'], 'Unknown option --wacth. Did you mean --watch?', 'mooring job --help'],
    [['enqueue', 'probe'], 'Name the owner of the job, as in --owner trip:42', 'mooring enqueue --help'],
    [
      ['sweep', 'orphan'],
      /^mooring: Name a sweep: .*; got "orphan"\. Did you mean orphans\?/,
      'mooring sweep --help',
    ],
    [
      ['cancel', '--job', 'x', '--reason', 'y'],
      '--job cannot be combined with --reason.',
      'mooring cancel --help',
    ],
    [['cancel', 'trip:1', '--run', 'r'], '--run requires --from.', 'mooring cancel --help'],
    [['queues', '--url', 'localhost:3000'], /--url must be a URL such as http/, 'mooring queues --help'],
  ])('explains what is wrong with %j and exits with 2', async (args, message, help) => {
    const { code, stdout, stderr } = await tool.run(args);
    expect([code, stdout]).toEqual([2, '']);
    if (typeof message === 'string') expect(stderr).toBe(`mooring: ${message}\nSee: ${help}\n`);
    else expect(stderr).toMatch(message);
  });

  it('prints its help and its version', async () => {
    expect((await tool.run(['--version'])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
    expect((await tool.run([])).stdout).toMatch(/^Usage: mooring <command>/);
    for (const args of [
      ['help', 'cancel'],
      ['cancel', '--help'],
      ['cancel', '-h'],
    ]) {
      const { code, stdout } = await tool.run(args);
      expect([code, stdout.split('\n')[0]]).toEqual([0, 'Usage: mooring cancel <type> <id>']);
    }
  });
});

/** A stub server refuses, is slow or fails on demand, which a real fleet does not do at a given moment. */
describe('mooring with a stub server', () => {
  interface Asked {
    readonly method: string;
    readonly path: string;
    readonly body: Record<string, unknown>;
  }
  type Answer = {
    readonly status?: number;
    readonly retryAfter?: string;
    readonly takesMs?: number;
    readonly body: unknown;
  };

  let server: Server;
  let tool: Mooring;
  let asked: Asked[];
  let answer: (call: Asked) => Answer;
  beforeEach(async () => {
    asked = [];
    server = createServer((request, response) => {
      void readCall(request).then((call) => {
        asked.push(call);
        const { status = 200, retryAfter, takesMs = 0, body } = answer(call);
        if (retryAfter !== undefined) response.setHeader('retry-after', retryAfter);
        const send = (): unknown => response.writeHead(status).end(JSON.stringify(body));
        if (takesMs > 0) setTimeout(send, takesMs);
        else send();
      });
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    tool = new Mooring({ MOORING_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
  });
  afterEach(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  const readCall = async (request: IncomingMessage): Promise<Asked> => ({
    method: request.method!,
    path: request.url!,
    body: request.headers['content-type'] ? ((await json(request)) as Record<string, unknown>) : {},
  });
  const aReceipt = (more: object = {}) => ({
    cancelId: 'c-1',
    owner: 'trip:42',
    epoch: '7',
    reason: 'by hand',
    by: '',
    at: '2026-01-02T03:00:00.000Z',
    closed: true,
    removed: 3,
    aborted: 0,
    acknowledged: 0,
    ignored: 0,
    running: 0,
    byQueue: { probe: { removed: { waiting: 3 }, aborted: 0, running: 0 } },
    schedules: 0,
    done: true,
    durable: true,
    ...more,
  });
  const problem = (status: number, code: string): Answer => ({
    status,
    retryAfter: '0',
    body: { status, code, detail: `It is ${code}.`, requestId: 'r-1' },
  });

  it('prints a command that repeats a cancellation with an unknown outcome', async () => {
    answer = () => problem(503, 'STORE_UNAVAILABLE');
    const { code, stderr } = await tool.run(['cancel', 'trip', "it's", '--reason', 'a b', '--wait']);
    expect(code).toBe(1);
    const { cancelId } = asked[0]!.body;
    expect(stderr).toContain(
      `  mooring cancel trip 'it'\\''s' --cancel-id ${String(cancelId)} --reason 'a b' --wait=30s\n`,
    );
  });

  it('cancels many owners, reports failures, and repeats a run with the same cancelIds', async () => {
    const list = '# rides\ntrip:1\n\ntrip:2\ntrip:3\n';
    answer = ({ path }) => (path.includes('/trip/2/') ? problem(400, 'INVALID') : { body: aReceipt() });
    const first = await tool.run(['cancel', '--from', '-', '--reason', 'over'], list);
    expect(first.code).toBe(1);
    const [, run] = /^Run (\S+), 3 to cancel/.exec(first.stderr)!;
    expect(first.stdout).toBe(`line 4: trip:2 INVALID: It is INVALID. (requestId r-1)
2 of 3 cancelled: 6 jobs removed, 0 told to stop. Nothing is running.
1 failed, 0 not tried. To continue, repeat the command with --run ${run}
`);
    const idsOf = (calls: readonly Asked[]) =>
      Object.fromEntries(calls.map((call) => [call.path, call.body['cancelId']]));
    const before = idsOf(asked.splice(0));

    answer = () => ({ body: aReceipt() });
    const second = await tool.run(
      ['cancel', '--from', '-', '--reason', 'over', '--run', run!, '--json'],
      list,
    );
    expect(second.code).toBe(0);
    expect(
      second.stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual([1, 2, 3].map(() => aReceipt()));
    expect(idsOf(asked)).toEqual(before);
    expect(new Set(Object.values(before)).size).toBe(3);
  });

  it('limits concurrent calls to --concurrency', async () => {
    let [now, most] = [0, 0];
    answer = () => ({ body: aReceipt(), takesMs: 20 });
    server.prependListener('request', (_request, response) => {
      most = Math.max(most, (now += 1));
      response.once('finish', () => (now -= 1));
    });
    const list = Array.from({ length: 60 }, (_, i) => `trip:${i}`).join('\n');
    expect((await tool.run(['cancel', '--from', '-', '--concurrency', '3'], list)).code).toBe(0);
    expect([asked.length, most]).toEqual([60, 3]);
  });

  it('cancels nothing when one line is invalid', async () => {
    answer = () => ({ body: aReceipt() });
    const { code, stderr } = await tool.run(['cancel', '--from', '-'], 'trip:1\ntrip 2\n');
    expect([code, asked]).toEqual([2, []]);
    expect(stderr).toContain('  line 2: an owner must be written type:id, as in trip:42; got "trip 2"\n');
  });

  it('retries transient errors and stops when further calls are pointless', async () => {
    answer = () => (asked.length < 3 ? problem(503, 'STORE_UNAVAILABLE') : { body: aReceipt() });
    expect((await tool.run(['cancel', '--from', '-'], 'trip:1')).code).toBe(0);
    expect(asked).toHaveLength(3);

    asked = [];
    answer = () => problem(403, 'FORBIDDEN');
    const list = Array.from({ length: 50 }, (_, i) => `trip:${i}`).join('\n');
    const stopped = await tool.run(['cancel', '--from', '-', '--concurrency', '2'], list);
    expect([stopped.code, asked.length]).toEqual([1, 2]);
    expect(stopped.stdout).toContain('2 failed, 48 not tried.');
  });

  it('cancels the whole list even when the reader closes the pipe', async () => {
    answer = () => ({ body: aReceipt() });
    const child = tool.start(['cancel', '--from', '-', '--json']);
    child.stdin!.end(Array.from({ length: 100 }, (_, i) => `trip:${i}`).join('\n'));
    child.stdout!.once('data', () => child.stdout!.destroy());
    expect(await once(child, 'close')).toEqual([0, null]);
    expect(asked).toHaveLength(100);
  });

  it('follows a sweep to its end despite a failed poll', async () => {
    const looks = [{ body: { state: 'running', seen: 1 } }, problem(503, 'STORE_UNAVAILABLE')];
    answer = ({ method }) =>
      method === 'POST'
        ? { status: 202, body: { sweepId: 's-1' } }
        : (looks.shift() ?? { body: { state: 'done', seen: 9, removed: 2, failed: 0, tookMs: 40 } });
    const { code, stdout } = await tool.run(['sweep', 'orphans', '--dry-run']);
    expect([code, stdout]).toEqual([
      0,
      'Sweep orphans: done. Dry run: nothing was removed.\n\n' +
        'seen          9\nwould remove  2\nfailed        0\ntook          40ms\n',
    ]);
    expect(asked[0]).toEqual({
      method: 'POST',
      path: '/v1/admin/sweeps/orphans',
      body: { dryRun: true, force: false },
    });
    expect(asked.slice(1).map(({ path }) => path)).toEqual(Array(3).fill('/v1/admin/sweeps/s-1'));
  });

  it('reads page after page until it has as many as asked', async () => {
    const entry = {
      at: 'now',
      who: 'night',
      what: 'owner.cancel',
      on: 'trip:1',
      outcome: 'done',
      status: 200,
    };
    answer = ({ path }) => {
      const isFirst = !path.includes('cursor');
      const entries = Array.from({ length: isFirst ? 2 : 1 }, () => ({
        ...entry,
        id: '1',
        requestId: 'r-1',
      }));
      return { body: { entries, cursor: isFirst ? 'c 1' : null } };
    };
    const { stdout } = await tool.run(['audit', '--who', 'night', '--limit', '9']);
    expect(stdout).toMatch(
      /^at +who +what +on +outcome +status +requestId\n(now +night +owner\.cancel .*\n){3}$/,
    );
    expect(asked.map(({ path }) => path)).toEqual([
      '/v1/admin/audit?who=night&limit=9',
      '/v1/admin/audit?who=night&limit=7&cursor=c+1',
    ]);
  });

  it('does not follow a redirect', async () => {
    answer = () => ({ status: 302, body: {} });
    server.prependListener('request', (_request, response) => response.setHeader('location', '/elsewhere'));
    const { code } = await tool.run(['cancel', 'trip:1', '--key', 'secret']);
    expect([code, asked.map(({ path }) => path)]).toEqual([1, ['/v1/owners/trip/1/cancel']]);
  });
});
