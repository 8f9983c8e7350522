import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { root } from '../support/process.js';

/** Simulates a machine without Redis, on which none of these can be measured. */
describe('the benchmarks without the programs they need', () => {
  let nothing: string;
  beforeAll(() => (nothing = mkdtempSync(join(tmpdir(), 'mooring-path-'))));
  afterAll(() => rmSync(nothing, { recursive: true }));

  function bench(...args: string[]): { status: number | null; stdout: string; stderr: string } {
    const env = { ...process.env, PATH: nothing };
    return spawnSync(process.execPath, ['scripts/bench.mjs', ...args], { cwd: root, env, encoding: 'utf8' });
  }

  it('name each missing program', () => {
    const { status, stdout, stderr } = bench('cancel', 'slots');
    expect([status, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(
      /^The benchmark cancel needs a redis-server .*\nThe benchmark slots needs a redis-server .*\n$/,
    );
  });

  it('do not read the value of an option as a name', () => {
    const { status, stderr } = bench('core', '--sides', 'plain,core', '--what', 'enqueue', '--rounds', '1');
    expect([status, stderr.split('\n')]).toEqual([
      2,
      [expect.stringMatching(/^The benchmark core needs a redis-server /), ''],
    ]);
  });

  it('still print one document with --json', () => {
    const { status, stdout } = bench('cancel', 'slots', 'sweep', '--json');
    const error = 'It could not be measured and ended with code 2; stderr says why.';
    expect([status, JSON.parse(stdout)]).toEqual([
      2,
      { benchmarks: { cancel: { error }, slots: { error }, sweep: { error } } },
    ]);
  });

  it('print nothing for a single benchmark', () => {
    expect(bench('slots', '--json')).toMatchObject({ status: 2, stdout: '' });
  });
});
