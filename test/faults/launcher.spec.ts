import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readdir, readFile, readlink, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { root, TestProcess } from '../support/process.js';
import { freePort } from '../support/store.js';
import { isNight } from '../support/night.js';
import { until } from '../support/until.js';

const HAS_NPM = spawnSync('npm', ['--version']).error === undefined;
const HAS_SCRIPT = spawnSync('script', ['--version']).error === undefined;

/** However and whenever the launcher ends, none of its processes survives, and its data folder has no second server. */
describe.runIf(existsSync('/proc/self/environ'))('a launcher', () => {
  let port: number;
  beforeEach(async () => (port = await freePort()));
  afterEach(async () => {
    for (const pid of await childrenOf(port)) process.kill(pid, 'SIGKILL');
    await rm(join(root, '.mooring', String(port)), { recursive: true, force: true });
  });

  const start = (): TestProcess => TestProcess.script(['scripts/start.mjs'], { PORT: String(port) });

  it.each(isNight ? [50, 150, 250, 400, 600, 900, 1_400] : [150, 600])(
    'that is killed %d ms after its start leaves nothing behind',
    async (ms) => {
      const launcher = start();
      await pause(ms);
      launcher.kill('SIGKILL');
      await until(async () => (await childrenOf(port)).length === 0, 'all it started has ended');
    },
  );

  it.each(isNight ? [50, 250, 600, 1_000, 1_800] : [250, 1_000])(
    'that is told to end %d ms after its start ends all of it, and exits with 0',
    async (ms) => {
      const launcher = start();
      await pause(ms);
      launcher.kill('SIGTERM');
      const { code, signal } = await launcher.exited;
      // Until it listens for signals it has started no process.
      expect([0, 'SIGTERM']).toContain(code ?? signal);
      expect(launcher.output).not.toMatch(/in time/);
      await until(async () => (await childrenOf(port)).length === 0, 'all it started has ended');
    },
  );

  it.runIf(HAS_NPM)('ends when its npm is told to end or is killed', async () => {
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      const npm = new TestProcess(
        spawn('npm', ['start'], {
          cwd: root,
          env: { ...process.env, PORT: String(port) },
          stdio: ['ignore', 'pipe', 'pipe'],
        }),
      );
      await until(() => npm.output.includes('Ctrl-C ends everything'), 'the fleet is ready');
      npm.kill(signal);
      await until(async () => (await childrenOf(port)).length === 0, `all has ended after ${signal}`);
    }
  });

  it.each(['nohup node scripts/start.mjs', 'setsid node scripts/start.mjs'])(
    'that a script starts as `%s &` survives the script',
    (command) => expectToGoOn(command),
  );

  it.runIf(HAS_NPM)('that a script starts as `nohup npm start &` survives the script', () =>
    expectToGoOn('nohup npm start'),
  );

  it.runIf(HAS_SCRIPT)('ends with all its processes when its terminal closes', async () => {
    const terminal = new TestProcess(
      spawn('script', ['-qec', 'node scripts/start.mjs', '/dev/null'], {
        cwd: root,
        env: { ...process.env, PORT: String(port) },
        stdio: ['pipe', 'pipe', 'pipe'],
      }),
    );
    await until(() => terminal.output.includes('Ctrl-C ends everything'), 'the fleet is ready');
    terminal.kill('SIGKILL');
    await until(async () => (await childrenOf(port)).length === 0, 'all has ended');
  });

  /** Expects the launcher to outlive its script and the terminal that it was started from; then tells it to end. */
  async function expectToGoOn(command: string): Promise<void> {
    const script = `${command} >/dev/null 2>&1 & sleep 1`;
    const shell = spawn('sh', ['-c', script], {
      cwd: root,
      env: { ...process.env, PORT: String(port) },
      stdio: 'ignore',
      detached: true,
    });
    await once(shell, 'exit');
    const ready = async (): Promise<boolean> => (await fetch(`http://127.0.0.1:${port}/readyz`)).ok;
    await until(ready, 'the fleet is ready');
    const launcher = await until(() => launcherOf(port), 'the launcher is found');

    // A closing terminal signals the whole group, npm included.
    process.kill(-(await groupOf(launcher)), 'SIGHUP');
    await pause(3 * 500);
    expect(await ready()).toBe(true);

    process.kill(launcher, 'SIGTERM');
    await until(async () => (await childrenOf(port)).length === 0, 'all has ended');
  }

  it('hands running jobs back when its whole group is told to end, because the store ends last', async () => {
    const launcher = new TestProcess(
      spawn(process.execPath, ['scripts/start.mjs'], {
        cwd: root,
        env: { ...process.env, PORT: String(port), SHUTDOWN_TIMEOUT: '4s' },
        stdio: ['ignore', 'pipe', 'pipe'],
        detached: true,
      }),
    );
    await until(() => launcher.output.includes('Ctrl-C ends everything'), 'the fleet is ready');
    const body = { kind: 'probe', owners: ['trip:1'], payload: { ms: 60_000 } };
    const jobs = `http://127.0.0.1:${port}/v1/jobs`;
    const answer = await fetch(jobs, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const { id } = (await answer.json()) as { id: string };
    const stateNow = async (): Promise<unknown> =>
      ((await (await fetch(`${jobs}/${id}`)).json()) as { state: unknown }).state;
    await until(async () => (await stateNow()) === 'running', 'it runs');
    process.kill(-launcher.pid, 'SIGTERM');
    expect(await launcher.exited).toEqual({ code: 0, signal: null });
    expect(launcher.facts()).toContainEqual(expect.objectContaining({ event: 'job.handed-back' }));
    expect(await childrenOf(port)).toEqual([]);
  });
});

/** Processes that were started with this PORT or run in its data folder, except the test process. */
async function childrenOf(port: number): Promise<number[]> {
  const found: number[] = [];
  for (const entry of await readdir('/proc')) {
    const pid = Number(entry);
    if (!pid || pid === process.pid) continue;
    const [folder, environment] = await Promise.all([
      readlink(`/proc/${pid}/cwd`).catch(() => ''),
      readFile(`/proc/${pid}/environ`, 'utf8').catch(() => ''),
    ]);
    if (folder.endsWith(`/.mooring/${port}`) || environment.split('\0').includes(`PORT=${port}`))
      found.push(pid);
  }
  return found;
}

async function launcherOf(port: number): Promise<number | undefined> {
  for (const pid of await childrenOf(port)) {
    const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    if (/^[^\0]*node\0scripts\/start\.mjs/.test(command)) return pid;
  }
  return undefined;
}

async function groupOf(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[2]);
}
