import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../libs/core/src', import.meta.url));

/** Which folders of the core a folder may import. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  model: [],
  scripts: ['model'],
  durability: ['model'],
  backend: ['model', 'scripts', 'durability'],
  sweeps: ['model', 'backend'],
  queue: ['model', 'backend', 'sweeps'],
  worker: ['model', 'backend', 'scripts'],
  flow: ['model', 'backend'],
  slots: ['scripts', 'backend'],
  owners: ['model', 'scripts', 'backend'],
  partitions: ['model', 'scripts', 'backend', 'queue', 'worker', 'flow', 'slots', 'owners', 'sweeps'],
};

interface Import {
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

function imports(): Import[] {
  return readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.spec.ts') && file.includes('/'))
    .flatMap((file) => {
      const text = readFileSync(join(root, file), 'utf8');
      return [...text.matchAll(/from '(\.[^']*)'/g)].map(([, path]) => ({
        file,
        from: file.split('/')[0]!,
        to: relative(root, join(root, dirname(file), path!)).split('/')[0]!,
      }));
    });
}

describe('the folders of the core', () => {
  it('import one way', () => {
    const wrong = imports().filter(({ from, to }) => from !== to && !MAY_IMPORT[from]?.includes(to));

    expect(wrong).toEqual([]);
  });

  it('each have a row', () => {
    expect([...new Set(imports().map(({ from }) => from))].toSorted()).toEqual(
      Object.keys(MAY_IMPORT).toSorted(),
    );
  });
});
