import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { promisify, stripVTControlCharacters } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { width } from '../../apps/cli/src/render/width.js';
import { root } from '../support/process.js';
import { ShopApp } from '../support/shop-app.js';
import { until } from '../support/until.js';

const MOORING = `${process.execPath} ${root}/scripts/mooring.mjs`;
const COLUMNS = 70;

/** In a real terminal, which `script` provides, and in a real shell. */
describe('mooring in a terminal', () => {
  let shop: ShopApp;
  beforeAll(async () => (shop = await ShopApp.start()));
  afterAll(() => shop.stop());
  /** A test that fails leaves no process. The end of the terminal ends what runs in it. */
  const children: ChildProcess[] = [];
  afterEach(() => {
    for (const child of children.splice(0)) child.kill('SIGTERM');
  });

  const env = (): NodeJS.ProcessEnv => ({
    PATH: process.env['PATH'],
    HOME: process.env['HOME'],
    TERM: 'xterm',
    MOORING_URL: shop.url,
  });

  it('redraws a list in place until Ctrl-C, and leaves the terminal as it was', async () => {
    const command = `stty cols ${COLUMNS} rows 20; exec ${MOORING} jobs --watch`;
    const terminal = spawn('script', ['-qec', command, '/dev/null'], { env: env(), stdio: 'pipe' });
    children.push(terminal);
    const closed = once(terminal, 'close');
    let seen = '';
    terminal.stdout.on('data', (chunk: Buffer) => (seen += chunk.toString()));
    await until(() => seen.includes('There are no such jobs.'), 'the first frame is shown');
    const ids = await shop.enqueue('customer:界', {}, 30);
    await until(() => ids.some((id) => seen.includes(id)) && seen.includes('completed'), 'jobs are shown');
    terminal.stdin.write('\x03');
    expect(await closed).toEqual([0, null]);

    expect(seen.startsWith('\x1b[?1049h\x1b[?25l\x1b[?7l')).toBe(true);
    expect(seen.endsWith('\x1b[?7h\x1b[?25h\x1b[?1049l')).toBe(true);
    // Clearing the whole screen would flicker.
    expect(seen).not.toContain('\x1b[2J');
    const frames = seen.split('\x1b[H').slice(1);
    expect(frames.length).toBeGreaterThan(1);
    for (const frame of frames) {
      const lines = stripVTControlCharacters(frame).replace('^C', '').trimEnd().split(/\r?\n/);
      expect([lines.length < 20, lines.filter((line) => width(line) > COLUMNS)]).toEqual([true, []]);
    }
  });

  it('prints what has changed as lines with --json, and ends on SIGINT', async () => {
    const args = [`${root}/scripts/mooring.mjs`, 'owners', '--type', 'site', '--watch', '--json'];
    const child = spawn(process.execPath, args, { env: env(), stdio: 'pipe' });
    children.push(child);
    const closed = once(child, 'close');
    let seen = '';
    child.stdout.on('data', (chunk: Buffer) => (seen += chunk.toString()));
    await until(() => seen.includes('\n'), 'the first line is printed');
    await shop.enqueue('site:1', {}, 1, '1h');
    await until(() => seen.includes('site:1'), 'the change is printed');
    child.kill('SIGINT');
    expect(await closed).toEqual([0, null]);
    const lines = seen
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { owners: object[] });
    expect(lines[0]).toEqual({ owners: [], cursor: null });
    expect(lines.at(-1)!.owners).toEqual([expect.objectContaining({ owner: 'site:1' })]);
  });

  it('completes in bash', async () => {
    const script = `
      mooring() { ${MOORING} "$@"; }
      source <(mooring completion bash)
      try() { COMP_WORDS=("$@"); COMP_CWORD=$(($#-1)); COMPREPLY=(); _mooring; echo "\${COMPREPLY[@]}"; }
      try mooring jobs pr; try mooring jobs --state f; try mooring pause shop-m; try mooring nonesuch ''`;
    const { stdout } = await promisify(execFile)('bash', ['-ec', script], { env: env() });
    expect(stdout).toBe('priority promote\nfailed\nshop-mail\n\n');
  });
});
