import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findServer, isAlive } from '#runtime';
import { root, TestProcess } from '../support/process.js';
import { freePort, TestStore } from '../support/store.js';
import { until } from '../support/until.js';

const START = ['scripts/start.mjs'];
/** A PATH that contains node and no store. */
const EMPTY_PATH = join(root, 'scripts');

/** Without a real server no store can keep data, evict or require a password. */
const REAL_SERVER = findServer() !== undefined;

const started: TestProcess[] = [];
let port: number;
beforeEach(async () => (port = await freePort()));
afterEach(async () => {
  for (const process of started.splice(0)) {
    if (!process.hasExited) process.kill('SIGTERM');
    await process.exited;
  }
  await rm(join(root, '.mooring', String(port)), { recursive: true, force: true });
});

/** The launcher, as `npm start` runs it. */
describe('npm start', () => {
  function start(env: NodeJS.ProcessEnv = {}): TestProcess {
    const launcher = TestProcess.script(START, { PORT: String(port), ...env });
    started.push(launcher);
    return launcher;
  }

  it('starts a store and every process, prints a first curl that works, and leaves nothing behind', async () => {
    const launcher = start();
    await untilReady(launcher);
    const pids = pidsOf(launcher);
    expect(pids).toHaveLength(3);

    const ticket = await runPrintedCurl(launcher.output);
    await until(async () => (await readJob(port, ticket)).state === 'completed', 'its job completes');

    launcher.kill('SIGTERM');
    expect(await launcher.exited).toEqual({ code: 0, signal: null });
    expect(pids.filter(isAlive)).toEqual([]);
    await expect(fetch(`http://127.0.0.1:${port}/livez`)).rejects.toThrow('fetch failed');
    expect(await storeAnswers(launcher.output)).toBe(false);
  });

  it('uses the embedded store when there is no other, and says so', async () => {
    const launcher = start({ PATH: EMPTY_PATH });
    await untilReady(launcher);
    expect(launcher.output).toMatch(/store +redis:\/\/127.*embedded Valkey \(WebAssembly\).*keeps nothing/);
    const ticket = await runPrintedCurl(launcher.output);
    await until(async () => (await readJob(port, ticket)).state === 'completed', 'its job completes');

    launcher.kill('SIGINT');
    expect(await launcher.exited).toEqual({ code: 0, signal: null });
  });

  it('works twice at once on different ports, each with a store of its own', async () => {
    const [first, second] = [start(), start({ PORT: String(await freePort()) })];
    await Promise.all([untilReady(first), untilReady(second)]);
    expect(storeUrl(first.output)).not.toBe(storeUrl(second.output));
    const [, other] = /api +http:\/\/127.0.0.1:(\d+)/.exec(second.output)!;
    second.kill('SIGTERM');
    await second.exited;
    await rm(join(root, '.mooring', other!), { recursive: true, force: true });
    expect((await fetch(`http://127.0.0.1:${port}/readyz`)).status).toBe(200);
  });

  it('restarts a child that exits, and reports it', async () => {
    const launcher = start();
    await untilReady(launcher);
    const [worker] = pidsOf(launcher);
    process.kill(worker!, 'SIGKILL');
    await until(
      () => launcher.output.includes('worker-1 exited unexpectedly (SIGKILL); restarting it'),
      'it says so',
    );
    await until(
      () => launcher.facts().filter(({ event }) => event === 'worker.started').length === 3,
      'it is back',
    );
  });

  it.runIf(REAL_SERVER)('keeps accepted jobs over a restart', async () => {
    const before = start();
    await untilReady(before);
    const ticket = await enqueue(port, { kind: 'probe', owners: ['trip:1'], payload: {}, delay: '2s' });
    before.kill('SIGTERM');
    await before.exited;

    const after = start();
    await untilReady(after);
    await until(
      async () => (await readJob(port, ticket)).state === 'completed',
      'the job of before completes',
    );
  });

  it('leaves no process behind when its launcher is killed', async () => {
    const launcher = start();
    await untilReady(launcher);
    const pids = pidsOf(launcher);
    launcher.kill('SIGKILL');
    await until(() => pids.every((pid) => !isAlive(pid)), 'every child ended');
    await until(async () => !(await storeAnswers(launcher.output)), 'the store ended');
  });

  it.each<[string, () => Promise<NodeJS.ProcessEnv>, RegExp]>([
    [
      'an unreachable store',
      async () => ({ REDIS_URL: `redis://127.0.0.1:${await freePort()}` }),
      /^No store at redis:\/\/127.*ECONNREFUSED.*unset it to get a private store\.$/m,
    ],
    [
      'an invalid address',
      async () => ({ REDIS_URL: 'localhost:6379' }),
      /^ {2}REDIS_URL: expected redis:\/\//m,
    ],
    [
      'a misspelt variable',
      async () => ({ MOORING_PREFX: 'x' }),
      /^ {2}MOORING_PREFX: no such variable; did you mean MOORING_PREFIX\?$/m,
    ],
    [
      'several problems at once',
      async () => ({ MOORING_PREFX: 'x', SHUTDOWN_TIMEOUT: 'soon', WORKERS: '0' }),
      /has 3 problems/,
    ],
    [
      'a setting of one app',
      async () => ({ WORKER_CONCURRENCY: 'many' }),
      /^ {2}WORKER_CONCURRENCY: expected a whole number/m,
    ],
    [
      'an unknown kind',
      async () => ({ WORKER_KINDS: 'prob' }),
      /^This worker is to take "prob", but knows only: containers\.end, .*, probe, .*\.$/m,
    ],
    [
      'a public address without keys',
      async () => ({ HOST: '0.0.0.0' }),
      /^ {2}API_KEYS: needed, because HOST is 0\.0\.0\.0/m,
    ],
  ])('refuses %s with a clear line', async (_what, env, line) => {
    const launcher = start(await env());
    const { code } = await launcher.exited;
    expect(launcher.output).toMatch(line);
    expect(launcher.output).not.toMatch(/^ +at /m);
    expect(code).toBe(1);
  });

  it('reports that its port is in use', async () => {
    const first = start();
    await untilReady(first);
    const second = start();
    expect(await second.exited).toEqual({ code: 1, signal: null });
    expect(second.output).toContain(
      `Port ${port} is taken by another program. Choose a free one: PORT=${port + 1} npm start`,
    );
    expect((await fetch(`http://127.0.0.1:${port}/readyz`)).status).toBe(200);
  });

  it.runIf(REAL_SERVER)(
    'refuses a store that evicts, one with another password, and an app without a store',
    async () => {
      const evicting = await TestStore.start('--maxmemory', '100mb', '--maxmemory-policy', 'allkeys-lru');
      const locked = await TestStore.start('--requirepass', 'secret');
      try {
        const first = start({ REDIS_URL: evicting.url });
        expect(await first.exited).toEqual({ code: 1, signal: null });
        expect(first.output).toMatch(/^The store's maxmemory-policy is "allkeys-lru".*Set it to noeviction/m);

        const second = start({ REDIS_URL: locked.url.replace('//', '//:wrong@') });
        expect(await second.exited).toEqual({ code: 1, signal: null });
        expect(second.output).toMatch(
          /^The store at redis:\/\/127.* refuses this user or password\. Correct REDIS_URL/m,
        );

        const alone = TestProcess.app('api', { REDIS_URL: evicting.url, PORT: '0' });
        expect(await alone.exited).toEqual({ code: 1, signal: null });
        expect(alone.output).toMatch(/maxmemory-policy is "allkeys-lru"/);
      } finally {
        await evicting.stop();
        await locked.stop();
      }
      const none = TestProcess.app('api', { PORT: '0' });
      expect(await none.exited).toEqual({ code: 1, signal: null });
      expect(none.output).toMatch(/^No store: set REDIS_URL/m);
    },
  );
});

describe('a single app', () => {
  it('starts a store that the next one joins', async () => {
    const api = TestProcess.script([...START, 'api'], { PORT: String(port) });
    started.push(api);
    await until(async () => (await fetch(`http://127.0.0.1:${port}/readyz`)).ok, 'the api is ready');
    const worker = TestProcess.script([...START, 'worker'], { PORT: String(port) });
    started.push(worker);
    const ticket = await enqueue(port, { kind: 'probe', owners: ['trip:1'], payload: {} });
    await until(async () => (await readJob(port, ticket)).state === 'completed', 'the job completes');

    for (const process of [worker, api]) {
      process.kill('SIGTERM');
      expect(await process.exited).toEqual({ code: 0, signal: null });
    }
  });
});

async function untilReady(launcher: TestProcess): Promise<void> {
  await until(
    () => {
      if (launcher.hasExited) throw new Error(`It ended: ${launcher.output}`);
      return launcher.output.includes('Ctrl-C ends everything in order.');
    },
    'the fleet is ready',
    60_000,
  );
  expect(launcher.output).not.toMatch(/Warning|deprecat|^ +at /im);
}

function pidsOf(launcher: TestProcess): number[] {
  return [...launcher.output.matchAll(/\(pid (\d+)\)/g)].map(([, pid]) => Number(pid));
}

function storeUrl(output: string): string {
  return /store +(redis:\/\/\S+?),/.exec(output)![1]!;
}

async function storeAnswers(output: string): Promise<boolean> {
  const { host } = new URL(storeUrl(output));
  return fetch(`http://${host}`).then(
    () => true,
    (error: Error) => !String(error.cause).includes('ECONNREFUSED'),
  );
}

/** Runs the command that is printed for a newcomer. */
async function runPrintedCurl(output: string): Promise<string> {
  const [, url] = /curl -s (http\S+\/v1\/jobs) -H 'content-type: application\/json'/.exec(output)!;
  const [, body] = /-d '(\{.*\})'/.exec(output)!;
  const response = await fetch(url!, {
    method: 'POST',
    body: body!,
    headers: { 'content-type': 'application/json' },
  });
  expect(response.status).toBe(201);
  return ((await response.json()) as { id: string }).id;
}

async function enqueue(at: number, body: object): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${at}/v1/jobs`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return ((await response.json()) as { id: string }).id;
}

async function readJob(at: number, id: string): Promise<{ state: string }> {
  return (await (await fetch(`http://127.0.0.1:${at}/v1/jobs/${id}`)).json()) as { state: string };
}
