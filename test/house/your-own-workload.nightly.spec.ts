import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { codeOf, withLines } from '../support/page-code.js';
import { root } from '../support/process.js';

const PAGE = 'docs/your-own-workload.md';
const COPIED = [
  '.oxlintrc.json',
  '.prettierrc.json',
  'package.json',
  'tsconfig.json',
  'apps',
  'dist',
  'libs',
];

/** Declares what the global setup provides to tests. */
const SETUP = 'test/support/global-setup.ts';

/** Compiles only the files of the page and their imports; the rest of the copy is already compiled. */
const COMPILED = { extends: './tsconfig.json', compilerOptions: { noEmit: false } };

/** Uses the store of this run instead of another one, and builds nothing again. */
const TESTED = `
import whole from './whole.config.ts';
export default {
  ...whole,
  test: { provide: { storeUrl: process.env.STORE_URL }, testTimeout: 60_000, hookTimeout: 60_000 },
};
`;

/** Follows the page in a copy of the repository. */
describe('docs/your-own-workload.md', () => {
  let copy: string;
  let page: string;
  let written: string[];

  beforeAll(async () => {
    copy = await mkdtemp(join(tmpdir(), 'mooring-own-'));
    for (const each of [...COPIED, 'test/support', 'test/house/arrows.spec.ts'])
      await cp(join(root, each), join(copy, each), { recursive: true });
    // The packed apps lack the files of the page.
    await rm(join(copy, 'dist/packed'), { recursive: true });
    await cp(join(root, 'vitest.config.ts'), join(copy, 'whole.config.ts'));
    await symlink(await realpath(join(root, 'node_modules')), join(copy, 'node_modules'));
    page = await readFile(join(root, PAGE), 'utf8');
    written = await followPage();
    await write('tsconfig.page.json', JSON.stringify({ ...COMPILED, include: [...written, SETUP] }));
    await write('vitest.config.mjs', TESTED);
  });
  afterAll(() => rm(copy, { recursive: true, force: true }));

  it('makes a workload that compiles, is clean, keeps the rules, and whose test passes', async () => {
    await run('typescript/bin/tsc', '-p', 'tsconfig.page.json');
    await run('prettier/bin/prettier.cjs', '--check', ...written);
    await run('oxlint/bin/oxlint', '--type-aware', '--deny-warnings', ...written);
    await run('vitest/vitest.mjs', 'run', 'test/house/arrows.spec.ts', '-t', 'keeps the rules');
    const tested = await run(
      'vitest/vitest.mjs',
      'run',
      ...written.filter((path) => path.endsWith('.spec.ts')),
    );
    expect(tested).toMatch(/Tests +3 passed/);
  }, 180_000);

  it('can be followed again, as when this test runs after a reader has followed it', async () => {
    for (const [path, diff] of codeOf(page).additions) {
      const followed = await readFile(join(copy, path), 'utf8');
      expect(withLines(followed, diff)).toBe(followed);
    }
  });

  it('names only files that exist', async () => {
    const named = [...page.matchAll(/`((?:apps|libs|test)\/[\w./-]+)`/g)].map(([, path]) => path!);
    const isThere = (path: string): boolean => [root, copy].some((house) => existsSync(join(house, path)));
    expect(named.length).toBeGreaterThan(10);
    expect(named.filter((path) => !isThere(path))).toEqual([]);
  });

  async function followPage(): Promise<string[]> {
    const { files, additions } = codeOf(page);
    expect([files.size, additions.size], 'files and changes on the page').toEqual([10, 1]);
    for (const [path, text] of files) await write(path, text);
    for (const [path, diff] of additions)
      await write(path, withLines(await readFile(join(copy, path), 'utf8'), diff));
    return [...files.keys(), ...additions.keys()];
  }

  async function write(path: string, text: string): Promise<void> {
    await mkdir(dirname(join(copy, path)), { recursive: true });
    await writeFile(join(copy, path), text);
  }

  /** The output of a tool; if the tool fails, the output is the error. */
  function run(tool: string, ...args: string[]): Promise<string> {
    const { PATH, HOME, TMPDIR } = process.env;
    const env = { PATH, HOME, TMPDIR, STORE_URL: inject('storeUrl'), NO_COLOR: '1' };
    return new Promise((resolve, reject) => {
      const command = [join(copy, 'node_modules', tool), ...args];
      execFile(process.execPath, command, { cwd: copy, env }, (error, stdout, stderr) => {
        const said = `${stdout}${stderr}`;
        if (error) reject(new Error(`Follow ${PAGE}, and ${tool} says:\n${said}`));
        else resolve(said);
      });
    });
  }
});
