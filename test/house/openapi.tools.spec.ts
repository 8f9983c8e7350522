import spectralCore, { type RulesetDefinition } from '@stoplight/spectral-core';
import spectralRulesets from '@stoplight/spectral-rulesets';
import { spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { root } from '../support/process.js';

const { Spectral } = spectralCore;
const FILE = join(root, 'docs/openapi.json');
/** Neither asks for a newer version of itself, nor reports that it ran. */
const OFFLINE = { REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };

describe('docs/openapi.json', () => {
  it('has no problem that Redocly finds', () => {
    const cli = join(root, 'node_modules/@redocly/cli/bin/cli.js');
    const { status, stdout, stderr } = spawnSync(process.execPath, [cli, 'lint', '--format=stylish', FILE], {
      cwd: root,
      env: { PATH: process.env['PATH'], ...OFFLINE },
      encoding: 'utf8',
    });
    expect({ status, stdout }, `${stdout}\n${stderr}`).toEqual({ status: 0, stdout: '' });
  });

  it('has no problem that Spectral finds', async () => {
    const spectral = new Spectral();
    spectral.setRuleset({ extends: [spectralRulesets.oas as unknown as RulesetDefinition] });
    const found = await spectral.run(await readFile(FILE, 'utf8'));
    expect(found.map(({ code, path, message }) => `${code} ${path.join('.')}: ${message}`)).toEqual([]);
  });
});
