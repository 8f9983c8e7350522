import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { root } from '../support/process.js';

/** On a machine without Redis, where none of these can be measured. */
describe('the benchmarks, without what they need', () => {
  let nothing: string;
  beforeAll(() => (nothing = mkdtempSync(join(tmpdir(), 'mooring-path-'))));
  afterAll(() => rmSync(nothing, { recursive: true }));

  function bench(...args: string[]): { status: number | null; stdout: string; stderr: string } {
    const env = { ...process.env, PATH: nothing };
    return spawnSync(process.execPath, ['scripts/bench.mjs', ...args], { cwd: root, env, encoding: 'utf8' });
  }

  it('say which program is missing, one by one', () => {
    const { status, stdout, stderr } = bench('cancel', 'slots');
    expect([status, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(
      /^The benchmark cancel needs a redis-server .*\nThe benchmark slots needs a redis-server .*\n$/,
    );
  });

  it('take the words behind an option for no names', () => {
    const { status, stderr } = bench('core', '--sides', 'plain,core', '--what', 'enqueue', '--rounds', '1');
    expect([status, stderr.split('\n')]).toEqual([
      2,
      [expect.stringMatching(/^The benchmark core needs a redis-server /), ''],
    ]);
  });

  it('are one document for a machine all the same', () => {
    const { status, stdout } = bench('cancel', 'slots', 'sweep', '--json');
    const error = 'It could not be measured and ended with code 2; stderr says why.';
    expect([status, JSON.parse(stdout)]).toEqual([
      2,
      { benchmarks: { cancel: { error }, slots: { error }, sweep: { error } } },
    ]);
  });

  it('print nothing for one that is asked for alone', () => {
    expect(bench('slots', '--json')).toMatchObject({ status: 2, stdout: '' });
  });
});
