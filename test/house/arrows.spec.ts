import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';

/** All sources except tests and benchmarks. */
const ROOMS = [
  'apps',
  'fleet',
  'workloads',
  'workload-kit',
  'events',
  'resolvers',
  'http',
  'bullmq-scripts',
  'core',
  'outbox',
  'partitions',
  'artifacts',
  'runtime',
  'scripts',
  'durability',
  'nestjs',
  'durations',
  'nearest-name',
  'sandbox',
  'testing',
  'client',
  'console',
];

/**
 * Which rooms each kind of room may import. A room is a folder of apps/, libs/ or libs/workloads/; or test/, or bench/.
 */
const ARROWS: Record<string, readonly string[]> = {
  apps: [
    'fleet',
    'workloads',
    'workload-kit',
    'events',
    'resolvers',
    'http',
    'client',
    'console',
    'runtime',
    'nestjs',
    'core',
    'durations',
    'nearest-name',
  ],
  fleet: ['workloads', 'workload-kit', 'events', 'nestjs', 'core', 'artifacts', 'runtime'],
  workloads: ['workload-kit', 'http', 'nestjs', 'core', 'durations'],
  'workload-kit': ['http', 'nestjs', 'core', 'scripts', 'runtime', 'durations'],
  artifacts: ['scripts'],
  events: ['nestjs', 'core'],
  resolvers: ['nestjs', 'core', 'durations'],
  http: ['nestjs', 'core'],
  core: ['bullmq-scripts', 'durability'],
  'bullmq-scripts': [],
  nestjs: ['core', 'nearest-name', 'sandbox'],
  partitions: ['core'],
  outbox: ['nestjs', 'core'],
  runtime: ['scripts', 'durability', 'durations', 'nearest-name'],
  scripts: [],
  durability: [],
  durations: [],
  'nearest-name': [],
  sandbox: [],
  testing: ['nestjs', 'core'],
  client: [],
  console: ['client', 'http'],
  test: [...ROOMS, 'bench'],
  bench: [...ROOMS, 'test'],
};
/** A spec may also import test support, wherever it is. */
const ALSO_FOR_SPECS = ['test'];
/** These rooms have no public name, so they are reached by a relative path; every other room only by its `#` name. */
const REACHED_BY_PATH = ['apps', 'test', 'bench'];
/** These rooms get what they need as arguments. */
const READS_NO_ENVIRONMENT = [
  'bullmq-scripts',
  'core',
  'durability',
  'nestjs',
  'outbox',
  'partitions',
  'events',
  'resolvers',
  'artifacts',
  'sandbox',
  'scripts',
];

const TREES = ['apps', 'libs', 'test', 'bench'];
const ROOM = /^(?:(apps|libs\/workloads)\/[^/]+|libs\/([^/]+)|(test|bench))(?=\/)/;

/** `lazy`: loaded by a function with `import()`, not at the start. */
type Import = { from: string; typeOnly: boolean; lazy: boolean };
type Source = { imports: Import[]; readsEnvironment: boolean };
type Sources = Map<string, Source>;
/** The `imports` of package.json: a public name and the source file it stands for, `*` for one segment. */
type PublicNames = Record<string, string>;
type Room = { path: string; kind: string };
type Target = { path: string } | { broken: string };

function violations(sources: Sources, names: PublicNames): string[] {
  const found: string[] = [];
  for (const [file, source] of sources) {
    for (const { from } of source.imports.filter(isOurs)) {
      const broken = brokenRule(file, from, names);
      if (broken) found.push(`${file}: "${from}" ${broken}`);
    }
    if (source.readsEnvironment && READS_NO_ENVIRONMENT.includes(roomOf(file)?.kind ?? '')) {
      found.push(`${file}: reads process.env`);
    }
  }
  return [...found, ...cycles(sources, names)];
}

function brokenRule(file: string, from: string, names: PublicNames): string | undefined {
  const target = resolve(file, from, names);
  if ('broken' in target) return target.broken;
  const here = roomOf(file);
  const there = roomOf(target.path);
  if (!here || !(here.kind in ARROWS)) return 'is imported by a room without a row in the table of arrows';
  if (!there) return 'leads out of the house';
  if (here.path === there.path) return undefined;

  const allowed = [...(ARROWS[here.kind] ?? []), ...(file.endsWith('.spec.ts') ? ALSO_FOR_SPECS : [])];
  if (!allowed.includes(there.kind))
    return `goes against the arrows: ${here.path} -> ${there.path}; ${here.kind} may import ${list(allowed)}`;
  if (!from.startsWith('#') && !REACHED_BY_PATH.includes(there.kind)) {
    return `reaches into ${there.path}: use its public name`;
  }
  return undefined;
}

function list(rooms: readonly string[]): string {
  return rooms.join(', ') || 'no other room';
}

function isOurs({ from }: Import): boolean {
  return /^[#./]/.test(from);
}

function roomOf(path: string): Room | undefined {
  const match = ROOM.exec(path);
  if (!match) return undefined;
  const [room, family, library, tree] = match;
  return { path: room, kind: (family && posix.basename(family)) ?? library ?? tree ?? '' };
}

function resolve(file: string, from: string, names: PublicNames): Target {
  if (from.startsWith('/')) return { path: from };
  if (from.startsWith('.')) return { path: posix.join(posix.dirname(file), from) };
  for (const [name, path] of Object.entries(names)) {
    const [before = '', after] = name.split('*');
    const star = after === undefined ? '' : from.slice(before.length, from.length - after.length);
    if (name.replace('*', star) === from && !star.includes('/')) return { path: path.replaceAll('*', star) };
  }
  return { broken: 'is no public name: package.json does not list it' };
}

/** Each cycle among the imports; an `import type` does not exist at run time and does not count. */
function cycles(sources: Sources, names: PublicNames): string[] {
  const found: string[] = [];
  const done = new Set<string>();
  const walk = (file: string, trail: string[]): void => {
    const seenAt = trail.indexOf(file);
    if (seenAt >= 0) found.push(`cycle: ${[...trail.slice(seenAt), file].join(' -> ')}`);
    if (seenAt >= 0 || done.has(file)) return;
    for (const next of filesNeededBy(file, sources, names)) walk(next, [...trail, file]);
    done.add(file);
  };
  for (const file of sources.keys()) walk(file, []);
  return found;
}

function filesNeededBy(file: string, sources: Sources, names: PublicNames, withLazy = true): string[] {
  const needed = sources.get(file)?.imports.filter((each) => isOurs(each) && !each.typeOnly) ?? [];
  const values = needed.filter(({ lazy }) => withLazy || !lazy);
  return values
    .map(({ from }) => resolve(file, from, names))
    .map((target) => ('path' in target ? target.path : ''))
    .map((path) => (sources.has(path) ? path : path.replace(/js$/, 'ts')))
    .filter((path) => sources.has(path));
}

/** The heavy packages that a file loads at its start, and through which files. */
function heavyNeeds(start: string, sources: Sources, names: PublicNames): string[] {
  const found: string[] = [];
  const seen = new Set<string>();
  const walk = (file: string): void => {
    if (seen.has(file)) return;
    seen.add(file);
    const needed = sources.get(file)?.imports.filter(({ typeOnly, lazy }) => !typeOnly && !lazy) ?? [];
    for (const { from } of needed) if (HEAVY.includes(from)) found.push(`${file}: ${from}`);
    filesNeededBy(file, sources, names, false).forEach(walk);
  };
  walk(start);
  return found;
}

function read(path: string, text: string): Source {
  const source: Source = { imports: [], readsEnvironment: false };
  const visit = (node: ts.Node): void => {
    const from = specifierOf(node);
    if (from)
      source.imports.push({
        from,
        typeOnly: isTypeOnly(node),
        lazy: ts.isCallExpression(node) && isInFunction(node),
      });
    source.readsEnvironment ||= readsEnvironment(node);
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true));
  return source;
}

function specifierOf(node: ts.Node): string | undefined {
  const specifier = specifierNode(node);
  return specifier && ts.isStringLiteralLike(specifier) ? specifier.text : undefined;
}

function isInFunction(node: ts.Node): boolean {
  return ts.findAncestor(node, ts.isFunctionLike) !== undefined;
}

function specifierNode(node: ts.Node): ts.Node | undefined {
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return node.moduleSpecifier;
  if (ts.isExternalModuleReference(node)) return node.expression;
  if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) return node.argument.literal;
  if (!ts.isCallExpression(node)) return undefined;
  const loads =
    node.expression.kind === ts.SyntaxKind.ImportKeyword || node.expression.getText() === 'require';
  return loads ? node.arguments[0] : undefined;
}

function isTypeOnly(node: ts.Node): boolean {
  if (ts.isImportTypeNode(node)) return true;
  if (ts.isExportDeclaration(node)) return node.isTypeOnly || areTypes(node.exportClause);
  if (!ts.isImportDeclaration(node) || !node.importClause) return false;
  const { phaseModifier, name, namedBindings } = node.importClause;
  return phaseModifier === ts.SyntaxKind.TypeKeyword || (!name && areTypes(namedBindings));
}

function areTypes(names: ts.NamedImportBindings | ts.NamedExportBindings | undefined): boolean {
  if (!names || !(ts.isNamedImports(names) || ts.isNamedExports(names))) return false;
  return names.elements.length > 0 && names.elements.every((each) => each.isTypeOnly);
}

/** `process.env`, `process['env']`, `const { env } = process` and `import { env } from 'node:process'`. */
function readsEnvironment(node: ts.Node): boolean {
  if (ts.isPropertyAccessExpression(node)) return isProcess(node.expression) && isEnv(node.name);
  if (ts.isElementAccessExpression(node)) return isProcess(node.expression) && isEnv(node.argumentExpression);
  if (ts.isVariableDeclaration(node)) return isProcess(node.initializer) && isEnv(node.name);
  return ts.isImportDeclaration(node) && isProcess(node.moduleSpecifier) && isEnv(node.importClause);
}

function isProcess(node: ts.Node | undefined): boolean {
  return /^(globalThis\.|'node:|'|"node:|")?process['"]?$/.test(node?.getText() ?? '');
}

function isEnv(node: ts.Node | undefined): boolean {
  return /\benv\b/.test(node?.getText() ?? '');
}

/** The package.json of the made-up sources below. */
const NAMES: PublicNames = {
  '#core': 'libs/core/src/index.ts',
  '#nestjs': 'libs/nestjs/src/index.ts',
  '#artifacts': 'libs/artifacts/src/index.ts',
  '#events': 'libs/events/src/index.ts',
  '#resolvers': 'libs/resolvers/src/index.ts',
  '#runtime': 'libs/runtime/src/index.ts',
  '#durations': 'libs/durations/src/index.ts',
  '#fleet': 'libs/fleet/src/index.ts',
  '#workload-kit': 'libs/workload-kit/src/index.ts',
  '#workload-kit/api': 'libs/workload-kit/src/api.ts',
  '#workloads/*': 'libs/workloads/*/src/index.ts',
};
/**
 * Needed only by processes with HTTP routes, a container engine or a pretty log: it makes a start half as long again.
 */
const HEAVY = ['@nestjs/swagger', '@nestjs/platform-fastify', 'fastify', 'dockerode', 'pino-pretty'];
const planted = (texts: Record<string, string>): string[] =>
  violations(new Map(Object.entries(texts).map(([path, text]) => [path, read(path, text)])), NAMES);

describe('the import rules', () => {
  it('let a room import itself, the rooms in its row, and packages', () => {
    expect(
      planted({
        'apps/api/src/main.ts':
          "import '#workloads/trips'; import '#fleet'; import '#runtime'; import '#nestjs'; import './a.js';",
        'libs/workloads/trips/src/index.ts':
          "import '#nestjs'; import '#workload-kit'; import '#workload-kit/api';",
        'libs/fleet/src/workloads.ts': "import '#workload-kit'; import '#workloads/trips';",
        'libs/runtime/src/index.ts': "import '#durations'; import 'bullmq'; import 'node:fs';",
        'libs/events/src/index.ts': "import '#nestjs'; import '#core';",
        'libs/resolvers/src/index.ts': "import '#nestjs'; import '#durations';",
        'libs/core/src/owners/owners.ts': "import '../model/owner.js';",
        'libs/core/src/owners/owners.spec.ts':
          "import './owners.js'; import '../../../../test/support/clock.js';",
        'test/flows/life.flow.spec.ts': "import '../../apps/api/src/api.module.js'; import '#nestjs';",
        'bench/backlog.bench.ts': "import '../test/support/store.js'; import '#runtime';",
      }),
    ).toEqual([]);
  });

  const against: [file: string, from: string, arrow: string][] = [
    ['apps/api/src/a.ts', '../../worker/src/main.js', 'apps/api -> apps/worker'],
    ['apps/api/src/a.ts', '../../../test/support/store.js', 'apps/api -> test'],
    ['libs/workloads/trips/src/a.ts', '#workloads/sites', 'libs/workloads/trips -> libs/workloads/sites'],
    ['libs/workloads/trips/src/a.ts', '#fleet', 'libs/workloads/trips -> libs/fleet'],
    ['libs/workload-kit/src/a.ts', '#workloads/trips', 'libs/workload-kit -> libs/workloads/trips'],
    ['libs/workloads/trips/src/a.ts', '#runtime', 'libs/workloads/trips -> libs/runtime'],
    ['libs/workloads/trips/src/a.ts', '../../../../apps/api/src/main.js', 'libs/workloads/trips -> apps/api'],
    ['libs/nestjs/src/a.ts', '#artifacts', 'libs/nestjs -> libs/artifacts'],
    ['libs/core/src/a.ts', '#nestjs', 'libs/core -> libs/nestjs'],
    ['libs/nestjs/src/a.ts', '#runtime', 'libs/nestjs -> libs/runtime'],
    ['libs/nestjs/src/a.ts', '#workloads/trips', 'libs/nestjs -> libs/workloads/trips'],
    ['libs/nestjs/src/a.ts', '../../../apps/api/src/main.js', 'libs/nestjs -> apps/api'],
    ['libs/nestjs/src/a.ts', '../../../test/support/clock.js', 'libs/nestjs -> test'],
    ['libs/nestjs/src/a.ts', '#events', 'libs/nestjs -> libs/events'],
    ['libs/events/src/a.ts', '#runtime', 'libs/events -> libs/runtime'],
    ['libs/resolvers/src/a.ts', '#runtime', 'libs/resolvers -> libs/runtime'],
    ['libs/nestjs/src/a.ts', '#resolvers', 'libs/nestjs -> libs/resolvers'],
    ['libs/artifacts/src/a.spec.ts', '#nestjs', 'libs/artifacts -> libs/nestjs'],
    ['libs/runtime/src/a.ts', '#nestjs', 'libs/runtime -> libs/nestjs'],
    ['libs/durations/src/a.ts', '#runtime', 'libs/durations -> libs/runtime'],
  ];
  it.each(against)('stop %s from importing %s', (file, from, arrow) => {
    expect(planted({ [file]: `import '${from}';` })).toEqual([
      expect.stringContaining(`${file}: "${from}" goes against the arrows: ${arrow}; `),
    ]);
  });

  it('report what may be imported instead', () => {
    expect(planted({ 'libs/workloads/trips/src/a.ts': "import '#runtime';" })).toEqual([
      'libs/workloads/trips/src/a.ts: "#runtime" goes against the arrows: libs/workloads/trips -> libs/runtime; ' +
        'workloads may import workload-kit, http, nestjs, core, durations',
    ]);
    expect(planted({ 'libs/durations/src/a.ts': "import '#nestjs';" })[0]).toMatch(
      /; durations may import no other room$/,
    );
  });

  const statements = [
    "import { a } from '#artifacts';",
    "import type { A } from '#artifacts';",
    "export * from '#artifacts';",
    "export type { A } from '#artifacts';",
    "type A = import('#artifacts').A;",
    "const a = await import('#artifacts');",
    "const a = require('#artifacts');",
    "import a = require('#artifacts');",
  ];
  it.each(statements)('apply to %s', (statement) => {
    expect(planted({ 'libs/nestjs/src/a.ts': statement })).toHaveLength(1);
  });

  it('require a row for every room', () => {
    expect(planted({ 'libs/utils/src/a.ts': "import '#durations';" })).toEqual([
      'libs/utils/src/a.ts: "#durations" is imported by a room without a row in the table of arrows',
    ]);
    expect(planted({ 'apps/api/src/a.ts': "import '../../../libs/utils/src/a.js';" })).toHaveLength(1);
  });
});

describe('public names', () => {
  it.each([
    [
      'libs/workloads/trips/src/a.ts',
      '../../../nestjs/src/errors.js',
      'reaches into libs/nestjs: use its public name',
    ],
    [
      'test/flows/a.spec.ts',
      '../../libs/runtime/src/index.js',
      'reaches into libs/runtime: use its public name',
    ],
    ['apps/api/src/a.ts', '../../../package.json', 'leads out of the house'],
    ['apps/api/src/a.ts', '/libs/nestjs/src/errors.js', 'leads out of the house'],
    ['apps/api/src/a.ts', '#nestjs/errors', 'is no public name: package.json does not list it'],
    [
      'apps/api/src/a.ts',
      '#workloads/trips/trips.service',
      'is no public name: package.json does not list it',
    ],
    ['apps/api/src/a.ts', '#nothing', 'is no public name: package.json does not list it'],
  ])('are required in %s instead of %s', (file, from, broken) => {
    expect(planted({ [file]: `import '${from}';` })).toEqual([`${file}: "${from}" ${broken}`]);
  });
});

describe('the environment', () => {
  const reads = ['process.env', "process['env']", 'globalThis.process.env', 'process?.env'].map(
    (access) => `f(${access});`,
  );
  it.each([...reads, 'const { env } = process;', "import { env } from 'node:process';"])(
    'is not read by %s',
    (text) => {
      expect(planted({ 'libs/nestjs/src/a.ts': text })).toEqual(['libs/nestjs/src/a.ts: reads process.env']);
      expect(planted({ 'apps/api/src/a.ts': text })).toEqual([]);
    },
  );
});

describe('cycles', () => {
  const [a, b, c] = ['libs/runtime/src/a.ts', 'libs/runtime/src/b.ts', 'libs/runtime/src/c.ts'] as const;

  it('are reported as the path that closes', () => {
    const texts = {
      [a]: "import './b.js';",
      [b]: "export * from './c.js';",
      [c]: "import { x } from './b.js';",
    };
    expect(planted(texts)).toEqual([`cycle: ${b} -> ${c} -> ${b}`]);
    expect(planted({ [a]: "import './a.js';" })).toEqual([`cycle: ${a} -> ${a}`]);
  });

  it('are found through a public name', () => {
    const index = 'libs/runtime/src/index.ts';
    expect(planted({ [index]: "export * from './a.js';", [a]: "import '#runtime';" })).toEqual([
      `cycle: ${index} -> ${a} -> ${index}`,
    ]);
  });

  it.each([
    "import type { A } from './a.js';",
    "import { type A } from './a.js';",
    "export type { A } from './a.js';",
  ])('do not run through %s', (text) => {
    expect(planted({ [a]: "import './b.js';", [b]: text })).toEqual([]);
  });
});

describe('the sources', () => {
  const root = new URL('../../', import.meta.url);
  const paths = TREES.flatMap((tree) => filesOf(tree, root));

  it.each(TREES)('include files in %s', (tree) => {
    expect(paths.some((path) => path.startsWith(`${tree}/`))).toBe(true);
  });

  const sources = new Map(paths.map((path) => [path, read(path, readFileSync(new URL(path, root), 'utf8'))]));
  const names = publicNames(root);

  it('keeps the rules', () => {
    expect(violations(sources, names)).toEqual([]);
  });

  it.each(['worker', 'janitor'])('start a %s without packages that it does not use', (app) => {
    expect(heavyNeeds(`apps/${app}/src/main.ts`, sources, names)).toEqual([]);
    expect(heavyNeeds('apps/api/src/main.ts', sources, names)).not.toEqual([]);
  });
});

function filesOf(tree: string, root: URL): string[] {
  const folder = new URL(tree, root);
  const names = existsSync(folder) ? readdirSync(folder, { recursive: true, encoding: 'utf8' }) : [];
  const paths = names.map((name) => posix.join(tree, name.replaceAll('\\', '/')));
  return paths.filter((path) => /\.[cm]?[jt]sx?$/.test(path)).toSorted();
}

function publicNames(root: URL): PublicNames {
  const text = readFileSync(new URL('package.json', root), 'utf8');
  const { imports } = JSON.parse(text) as { imports: Record<string, { source: string }> };
  const entries = Object.entries(imports).map(
    ([name, { source }]) => [name, posix.normalize(source)] as const,
  );
  return Object.fromEntries(entries);
}
