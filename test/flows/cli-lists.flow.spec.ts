import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cli } from '../../apps/cli/src/cli.js';
import { COMMANDS } from '../../apps/cli/src/commands/index.js';
import { candidates } from '../../apps/cli/src/commands/completion.js';
import { Api } from '../../apps/cli/src/api.js';
import { width } from '../../apps/cli/src/render/width.js';
import { root } from '../support/process.js';
import { anOrder, ShopApp } from '../support/shop-app.js';
import { until } from '../support/until.js';

interface Said {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** The lists and the small calls of the command line, with an api and its workers in this process. */
describe('mooring', () => {
  let shop: ShopApp;
  beforeAll(async () => (shop = await ShopApp.start()));
  afterAll(() => shop.stop());

  it('finds jobs by its filters, and prints as many as asked', async () => {
    const failures = await shop.enqueue('customer:1', { hasMailbox: false }, 3);
    const [failed] = failures;
    const [done] = await shop.enqueue('customer:2');
    for (const id of failures) await untilState(id, 'failed');
    await untilState(done!, 'completed');

    const { stdout } = await run('jobs', '--state', 'failed', '--error', 'mailbox');
    expect(stdout).toMatch(
      /^job +kind +queue +state +owners +attempts +age +error\n(shop-mail-.* failed .*\n){3}$/,
    );
    expect((await run('jobs', 'list', '--owner', 'customer:2')).stdout).toContain(done);
    expect((await run('jobs', '--error', 'nonesuch')).stdout).toBe('There are no such jobs.\n');
    for (const [option, name, meant] of [
      ['queue', 'shop-mial', 'shop-mail'],
      ['kind', 'shop.recei', 'shop.receipt'],
    ] as const)
      expect(await run('jobs', `--${option}`, name)).toMatchObject({
        code: 1,
        stdout: '',
        stderr: expect.stringContaining(
          `There is no ${option} named "${name}". Did you mean ${meant}?\n  code INVALID (400)`,
        ),
      });
    const page = await json('jobs', '--state=failed', '--limit', '2');
    expect(page).toMatchObject({
      jobs: [{ state: 'failed' }, { state: 'failed' }],
      cursor: expect.any(String),
    });
    const { stdout: lines } = await run('jobs', '--state=failed', '--all', '--json');
    const ids = lines
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { id: string }).id);
    expect([ids.length, new Set(ids).size, ids.includes(failed!)]).toEqual([3, 3, true]);

    const shown = await run('jobs', 'show', failed!);
    expect(shown.stdout).toMatch(
      /\npayload\n\{\n {2}"order": 1,\n(.*\n)*\}\n\nat +level +log\n.* info +Release 1 sends/,
    );
    expect(await json('job', failed!)).toMatchObject({ payload: { customer: 7 }, lines: [{}, {}] });
  });

  it('fits its tables into the terminal', async () => {
    const [id] = /shop-mail-\w+/.exec((await run('jobs', '--limit', '1')).stdout)!;
    for (const columns of [100, 80, 60, 40]) {
      const { stdout } = await inTerminal(columns, 'jobs', '--limit', '1');
      const lines = stdout.split('\n').slice(0, 2);
      expect(lines.map(width).filter((one) => one > columns)).toEqual([]);
      // An id is cut last: it is copied.
      if (columns >= 60) expect(lines[1]).toContain(id);
    }
  });

  it('pauses a queue, moves its jobs, shows and cancels them, and resumes it', async () => {
    expect((await run('pause', 'shop-mail')).stdout).toMatch(/^shop-mail is paused: /);
    expect((await run('queues')).stdout).toMatch(/^shop-mail \(paused\) /m);
    const [late, early] = await shop.enqueue('customer:3', {}, 2, '1h');
    expect((await run('jobs', 'priority', late!, '1')).stdout).toContain(`${late} is delayed.`);
    expect((await run('jobs', 'promote', late!)).stdout).toContain(`${late} is waiting.`);
    expect(await run('jobs', 'priority', late!, '201')).toMatchObject({ code: 2 });
    expect((await run('flows', 'show', early!)).stdout).toMatch(
      /^job +kind +state .*\nshop-mail-\S+ +shop\.receipt +delayed /,
    );
    expect((await run('owners', '--type', 'customer', '--state', 'open')).stdout).toMatch(
      /^customer:3 +open +2 +0 /m,
    );

    const dry = await run('owners', 'cancel', 'customer', '3', '--dry-run');
    expect(dry.stdout).toMatch(
      /^Dry run: nothing was cancelled\. A cancel of customer:3 would end 2 waiting jobs, /,
    );
    expect(await json('cancel', 'customer', '3', '--dry-run', '--reason', 'asked')).toMatchObject({
      by: 'api',
      reason: 'asked',
      at: expect.stringMatching(/^20[2-9]\d-/),
    });
    expect((await run('jobs', 'cancel', early!)).stdout).toContain(`Job ${early} is cancelled`);
    expect((await run('cancel', 'customer:3', '--keep-open')).stdout).toContain('1 waiting job removed.');
    expect((await run('owners', 'history', 'customer:3')).stdout).toMatch(
      /^at +job +kind .*\n(.*cancelled.*\n){2}$/,
    );
    expect((await run('cancellations')).stdout).toMatch(/ customer:3 +yes +1 /);
    expect((await run('cancellations', '--open')).stdout).toBe('There are no such cancellations.\n');
    expect((await run('resume', 'shop-mail')).stdout).toBe('shop-mail runs.\n');
    expect((await run('pause', 'shop-mail', 'shop-billing')).stdout).toMatch(
      /^(shop-\w+ is paused: .*\n){2}$/,
    );
    expect(await run('resume', 'shop-mial', 'shop-mail', 'shop-billing')).toMatchObject({
      code: 1,
      stdout: 'shop-mail runs.\nshop-billing runs.\n',
      stderr: expect.stringContaining(
        'There is no queue named shop-mial. Did you mean shop-mail? mooring queues lists them.\n',
      ),
    });
    expect((await run('pause')).stderr).toContain('Name the queue, as in: mooring pause media mail');
    expect(await run('resume', 'nonesuch')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('NOT_FOUND'),
    });
  });

  it('retries and removes the jobs that filters name', async () => {
    const ids = await shop.enqueue('customer:4', { hasMailbox: false }, 2);
    for (const id of ids) await untilState(id, 'failed');
    const dry = await run('retry', '--owner', 'customer:4', '--dry-run');
    expect(dry).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(
        /Dry run: .*\n(.*\n)*matched +2\ndone +0\n\ncount +kind +error\n +2 +shop\.receipt +There is no mailbox of customer 7\.\n/,
      ),
    });
    const retried = await run('retry', '--owner', 'customer:4');
    expect(retried).toMatchObject({ code: 0, stdout: expect.stringMatching(/matched +2\ndone +2\n/) });
    for (const id of ids) await until(async () => (await attemptsOf(id)) === 3, 'it ran again');
    for (const id of ids) await untilState(id, 'failed');
    expect((await run('jobs', 'remove', '--owner', 'customer:4')).stdout).toMatch(/\ndone +2\n/);
    expect((await run('owners', 'history', 'customer:4')).stdout).toMatch(
      /^at .*\n(.* failed +removed by api: operation op-.*\n){2}$/,
    );
    expect((await run('job', ids[0]!)).stdout).toMatch(/^shop-mail-\S+ was removed: operation op-.* by api /);
    expect((await run('operations')).stdout).toMatch(/^operation .*\n(op-.*owner customer:4\n){3}$/);

    expect(await run('retry')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Name a jobId or filters, as in: '),
    });
    expect(await run('retry', '--kind', 'shop.recei')).toMatchObject({
      code: 1,
      stdout: expect.stringContaining(
        'failed (There is no kind named "shop.recei". Did you mean shop.receipt?)',
      ),
    });
    expect(await run('retry', 'x', '--kind', 'y')).toMatchObject({ code: 2 });
    expect(await run('retry', '--dry-run')).toMatchObject({ code: 2 });
    expect(await run('jobs', 'remove', ids[0]!)).toMatchObject({ code: 2 });
  });

  it('shows and deletes schedules', async () => {
    const body = { kind: 'shop.label', owners: ['customer:5'], payload: anOrder(), every: '1h' };
    await shop.call('PUT', '/v1/schedules/hourly', body);
    expect((await run('schedules')).stdout).toMatch(
      /^schedule .*\nhourly +shop\.label +customer:5 +every 1h +20\d\d-/,
    );
    expect((await run('schedules', 'delete', 'hourly')).stdout).toContain('is deleted');
    expect((await run('schedules')).stdout).toBe('There are no such schedules.\n');
  });

  it('lists kinds, workers, sweeps and quarantine', async () => {
    expect((await run('kinds')).stdout).toMatch(/^kind .*\nshop\.invoice +shop-billing +normal +2 /);
    await until(
      async () => /\n\S+ +\S+ \(\d+\) +running /.test((await run('workers')).stdout),
      'a worker is listed',
    );
    const swept = await run('sweep', 'repair', '--json');
    const { sweepId } = JSON.parse(swept.stdout) as { sweepId: string };
    expect((await run('sweeps')).stdout).toContain(sweepId);
    expect((await run('sweeps', 'show', sweepId)).stdout).toMatch(/^Sweep repair: done\./);
    expect((await run('sweeps', 'lines', sweepId)).stdout).toBe('It removed nothing.\n');
    expect((await run('quarantine')).stdout).toBe('No job is in quarantine.\n');
  });

  it('names the nearest command', async () => {
    const told = async (...args: string[]) => (await run(...args)).stderr.split('\n')[0];
    expect(await told('jbos')).toBe('mooring: Unknown command "jbos". Did you mean jobs?');
    expect(await told('jobs', 'shwo', 'x')).toBe(
      'mooring: Unknown command "jobs shwo". Did you mean jobs show?',
    );
    expect(await told('flows')).toBe('mooring: Unknown command "flows". Commands: flows show.');
    expect(await told('jobs', '--state', 'faild')).toMatch(/; got "faild"\. Did you mean failed\?$/);
    expect(await told('jobs', 'show')).toBe('mooring: Name the jobId, as in: mooring jobs show probe-4kQ…');
  });

  it.each(COMMANDS)(
    'gives an example of $name, which is in the page',
    async ({ name, alias, example, more }) => {
      const page = await readFile(`${root}/docs/cli.md`, 'utf8');
      const { code, stdout } = await run(...name.split(' '), '--help');
      expect([code, stdout]).toEqual([0, expect.stringContaining(`\n\nExample: mooring ${example}\n`)]);
      expect(stdout).toContain(more ?? '');
      const begins = [name, ...(alias ? [alias] : [])].some((one) => `${example} `.startsWith(`${one} `));
      expect([begins, example]).toEqual([true, example]);
      expect(page).toContain(`\`${name}`);
      if (alias) expect(page).toContain(`\`${alias}`);
    },
  );

  it.each([
    [[''], ['enqueue', 'jobs', 'pause', 'retry', 'completion']],
    [
      ['jobs', ''],
      ['show', 'priority'],
    ],
    [
      ['jobs', 'pr'],
      ['priority', 'promote'],
    ],
    [['jobs', '--st'], ['--state']],
    [['jobs', '--state', 'fa'], ['failed']],
    [['jobs', '--kind', 'shop.l'], ['shop.label']],
    [
      ['jobs', 'retry', '--queue', ''],
      ['shop-billing', 'shop-mail', 'shop-shipping'],
    ],
    [['pause', 'shop-m'], ['shop-mail']],
    [['sweep', 'or'], ['orphans']],
  ])('completes %j', async (typed, expected) => {
    const found = await candidates(typed, COMMANDS, new Api(shop.url, undefined, '0'));
    expect(found).toEqual(expect.arrayContaining(expected));
    expect(found.filter((one) => !one.startsWith(typed.at(-1)!))).toEqual([]);
  });

  it('completes nothing that the API would have to name while it does not answer', async () => {
    expect(await candidates(['pause', ''], COMMANDS, new Api('http://127.0.0.1:1', undefined, '0'))).toEqual(
      [],
    );
  });

  function run(...args: string[]): Promise<Said> {
    return inTerminal(undefined, ...args);
  }

  async function json(...args: string[]): Promise<unknown> {
    return JSON.parse((await run(...args, '--json')).stdout);
  }

  /** Runs it in this process. Without columns, its output is no terminal. */
  async function inTerminal(columns: number | undefined, ...args: string[]): Promise<Said> {
    const said = { stdout: '', stderr: '' };
    const stream = (name: 'stdout' | 'stderr') =>
      ({
        isTTY: columns !== undefined,
        columns,
        write: (text: string) => (said[name] += text),
        on: () => undefined,
      }) as unknown as NodeJS.WriteStream;
    const env = { MOORING_URL: shop.url, NO_COLOR: '1' };
    const code = await cli(args, { env, stdout: stream('stdout'), stderr: stream('stderr'), version: '0' });
    return { code, ...said };
  }

  async function untilState(id: string, state: string): Promise<void> {
    await until(
      async () => (await shop.call('GET', `/v1/jobs/${id}`))['state'] === state,
      `${id} is ${state}`,
    );
  }

  async function attemptsOf(id: string): Promise<unknown> {
    return (await shop.call('GET', `/v1/jobs/${id}`))['attempts'];
  }
});
