import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

type Table = Readonly<Record<string, readonly string[]>>;

/** Which folders of its package a folder may import. */
const CORE: Table = {
  model: [],
  scripts: ['model'],
  backend: ['model', 'scripts'],
  sweeps: ['model', 'backend'],
  queue: ['model', 'backend', 'sweeps'],
  worker: ['model', 'scripts', 'backend', 'owners'],
  flow: ['model', 'backend'],
  slots: ['model', 'scripts', 'backend'],
  owners: ['model', 'scripts', 'backend'],
};
const NESTJS: Table = {
  audit: ['store'],
  journal: [],
  kinds: [],
  resolvers: ['journal'],
  store: [],
  events: ['journal', 'store'],
  queues: ['kinds'],
  enqueue: ['journal', 'kinds', 'queues'],
  flows: ['journal', 'kinds', 'enqueue'],
  history: ['journal', 'store', 'enqueue'],
  schedules: ['kinds', 'enqueue'],
  artifacts: ['kinds', 'enqueue', 'flows'],
  sweeps: ['journal', 'events', 'history', 'queues', 'kinds', 'store', 'enqueue', 'resolvers'],
  run: ['journal', 'history', 'store', 'queues', 'kinds', 'enqueue', 'flows', 'artifacts', 'resolvers'],
  read: ['journal', 'history', 'queues', 'kinds', 'artifacts'],
  cancel: ['history', 'queues', 'enqueue'],
  find: ['access', 'history', 'queues', 'kinds', 'store', 'read', 'flows', 'run'],
  operations: ['access', 'journal', 'history', 'store', 'queues', 'enqueue', 'find', 'repair', 'sweeps'],
  repair: ['journal', 'kinds', 'history', 'store', 'queues'],
};
const PARTITIONS: Table = {
  model: [],
  queue: ['model'],
  worker: ['model'],
  flow: ['model'],
  slots: ['model'],
  owners: ['model'],
};

interface Import {
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

function importsIn(library: string): Import[] {
  const root = fileURLToPath(new URL(`../../libs/${library}/src`, import.meta.url));
  return readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.spec.ts') && file.includes('/'))
    .flatMap((file) => {
      const text = readFileSync(join(root, file), 'utf8');
      return [...text.matchAll(/from '([.#][^']*)'/g)].map(([, path]) => ({
        file,
        from: file.split('/')[0]!,
        to: path!.startsWith('#') ? path! : relative(root, join(root, dirname(file), path!)).split('/')[0]!,
      }));
    });
}

describe.each([
  { library: 'core', table: CORE, names: ['#bullmq-scripts', '#durability'] },
  {
    library: 'nestjs',
    table: NESTJS,
    names: ['#core', '#core/parts', 'errors.js', 'options.js', 'setup-error.js', '#nearest-name', '#sandbox'],
  },
  { library: 'partitions', table: PARTITIONS, names: ['#core', '#core/parts'] },
] as const)('the folders of $library', ({ library, table, names }) => {
  const imports = importsIn(library);

  it('import in one direction', () => {
    const wrong = imports.filter(
      ({ from, to }) => from !== to && ![...names, ...(table[from] ?? [])].includes(to),
    );

    expect(wrong).toEqual([]);
  });

  it('each have a row', () => {
    expect([...new Set(imports.map(({ from }) => from))].toSorted()).toEqual(Object.keys(table).toSorted());
  });
});
