import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { isGone } from '../../../../../../test/support/is-gone.js';
import { until } from '../../../../../../test/support/until.js';
import { Child } from './child.js';
import { endGroup, startedBy } from './proc.js';
import type { PoolSpec, Setup } from './spec.js';
import type { Task } from './words.js';

/** The folder of the newest process. */
let folder = '';

const BROWSE: Setup = { role: 'browse', chromium: '/none' };
const CHECK: Task = { do: 'check', drawer: 'graphviz', source: 'x' };
const { signal } = new AbortController();
const bystanders: ChildProcess[] = [];
const browsers: number[] = [];

afterEach(() => {
  bystanders.splice(0).forEach((each) => each.kill('SIGKILL'));
  browsers
    .splice(0)
    .filter((pid) => !isGone(pid))
    .forEach(endGroup);
});

describe('a process that draws', () => {
  it.each([{ role: 'draw' } as const, BROWSE])('kills no other process: $role', async (setup) => {
    const bystander = spawn('sleep', ['600'], { detached: true, stdio: 'ignore' });
    bystanders.push(bystander);
    const child = childThat(
      `process.send({ said: 'ready', group: ${bystander.pid} }); process.on('message', () => process.send({ said: 'checked' }))`,
      { setup },
    );
    expect(await child.ask(CHECK, 20_000, signal)).toEqual({ said: 'checked' });
    await child.end();
    expect(isGone(bystander.pid!)).toBe(false);
  });

  it('that is not ready yet ends with its browser and its folder, even while the browser writes to it', async () => {
    // The browser stand-in keeps writing, into existing folders, until it is killed.
    const writes = 'i=0; while :; do i=$(((i+1)%1000)); mkdir -p d$i; : > d$i/f; done';
    const child = childThat(
      `require('node:child_process').spawn('sh', ['-c', ${JSON.stringify(writes)}], { detached: true, stdio: 'ignore' }); setInterval(() => 0, 1e6)`,
      { setup: BROWSE },
    );
    const browser = await until(() => startedBy(child.pid!)?.[0], 'it has a browser');
    browsers.push(browser);
    await until(() => existsSync(`${folder}/d9`), 'that writes');
    await child.end();
    expect(existsSync(folder)).toBe(false);
    // The browser is killed; the operating system decides when it disappears.
    await until(() => isGone(browser), 'its browser is gone');
    expect(existsSync(folder)).toBe(false);
  });

  it('that is not ready in time does not blame the source', async () => {
    const child = childThat('setInterval(() => 0, 1e6)', { startMs: 300 });
    await expect(child.ask(CHECK, 20_000, signal)).rejects.toMatchObject({ limit: 'process' });
  });

  it('may send any message', async () => {
    const long = { said: 'invalid', message: 'x'.repeat(90_000), worn: true };
    const child = childThat(
      `process.send(null); process.send({ said: 'ready' }); process.on('message', () => process.send(${JSON.stringify(long)}))`,
    );
    const error = await child.ask(CHECK, 20_000, signal).catch((thrown: Error) => thrown);
    expect((error as Error).message).toHaveLength(1_000);
    await child.end();
  });
});

/** Runs this code instead of a renderer. */
function childThat(code: string, more: Partial<PoolSpec> = {}): Child {
  const spec: PoolSpec = {
    setup: { role: 'draw' },
    processes: 1,
    heapMb: 100,
    memoryMb: 1_000,
    idleMs: 1_000,
    renders: 10,
    ...more,
  };
  return new Child(spec, (_, cwd) => {
    folder = cwd;
    return spawn(process.execPath, ['-e', code], { cwd, stdio: ['ignore', 'ignore', 'pipe', 'ipc'] });
  });
}
