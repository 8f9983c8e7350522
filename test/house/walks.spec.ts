import { existsSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { describe, expect, it } from 'vitest';
import { root } from '../support/process.js';

const RECIPES = 'libs/core/src/scripts/recipes.ts';
const MOST_FILES: Readonly<Record<string, number>> = {
  'A job, from the request to its end': 12,
  'A cancel of an owner': 10,
  'A sweep of orphans, until it cancels': 10,
  Retention: 8,
};
const ROW = /^\| [^|]+ \| `([^`]+)` \| [^|]+ \|$/gm;
const FILE = /`([\w./-]+\.(?:ts|lua))`/g;
/** Files that Nest or BullMQ calls. */
const BEGINS = /@MooringController\(|@Processor\(|implements OnApplicationBootstrap|extends Worker</;
const IMPORT = /(?:import|export) (?:type )?\{([^}]*)\} from '([^']+)'/g;

const read = (file: string): string => readFileSync(`${root}/${file}`, 'utf8');
const { imports: names } = JSON.parse(read('package.json')) as {
  imports: Record<string, { source: string }>;
};

/** docs/architecture.md leads a reader through the files: each file exists and is reached from an earlier one. */
describe('the walks in docs/architecture.md', () => {
  const page = read('docs/architecture.md').split('\n## The walks\n')[1]!.split('\n## ')[0]!;
  const walks = page.split('\n### ').slice(1);

  it('each have a limit', () => {
    expect(walks.map(titleOf)).toEqual(Object.keys(MOST_FILES));
  });

  it.each(walks.map((walk) => [titleOf(walk), walk]))(
    '%s: few files, each of them reachable',
    (title, walk) => {
      const steps = [...walk.matchAll(ROW)].map(([, file]) => file!);
      const passed = [...walk.split('\nPassed on the way: ')[1]!.matchAll(FILE)].map(([, file]) => file!);
      expect(steps.length).toBeGreaterThan(0);
      expect(steps.length).toBeLessThanOrEqual(MOST_FILES[title]!);
      expect([...steps, ...passed].filter((file) => !existsSync(`${root}/${file}`))).toEqual([]);
      expect(outOfReach(steps, passed)).toEqual([]);
    },
  );
});

function titleOf(walk: string): string {
  return walk.split('\n')[0]!;
}

/**
 * Files that are not called by Nest or BullMQ, and not used by an earlier step or by a file that passes the call on.
 */
function outOfReach(steps: readonly string[], passed: readonly string[]): string[] {
  const lost: string[] = [];
  const before = new Set<string>();
  for (const step of steps) {
    if (!BEGINS.test(read(step)) && !isReached(step, before, passed)) lost.push(step);
    before.add(step);
  }
  return [...lost, ...passed.filter((file) => !isReached(file, before, passed))];
}

function isReached(file: string, before: ReadonlySet<string>, passed: readonly string[]): boolean {
  const seen = new Set(before);
  for (const from of seen) {
    if (from !== file && uses(from, file)) return true;
    passed.filter((each) => !seen.has(each) && uses(from, each)).forEach((each) => seen.add(each));
  }
  return false;
}

function uses(from: string, file: string): boolean {
  if (file.endsWith('.lua')) return runs(from, scriptOf(file));
  if (/ extends (Sweep|Handler<)/.test(read(file))) return /sweeper|handler-registry/.test(from);
  return !from.endsWith('.lua') && (importsOf(from).includes(file) || isSubclass(file, from));
}

/** A class that is used in place of the class that it extends. */
function isSubclass(file: string, from: string): boolean {
  const parent = /^export class \w+ extends (\w+)/m.exec(read(file))?.[1];
  return parent !== undefined && read(from).includes(`class ${parent}`) && importsOf(file).includes(from);
}

/** A script consists of the files in its recipe and is called by its name. */
function runs(from: string, script: string): boolean {
  const recipes = compositions();
  if (from.endsWith('.lua')) return recipes.some(({ own }) => own.has(script) && own.has(scriptOf(from)));
  const text = read(from);
  return recipes.some(({ name, own }) => own.has(script) && new RegExp(`['.]${name}['(]`).test(text));
}

function scriptOf(file: string): string {
  return posix.basename(file, '.lua');
}

/** The files of each script: those in its recipe, and those in lists that it spreads. */
function compositions(): { name: string; own: Set<string> }[] {
  const text = read(RECIPES);
  const lists = new Map<string, string[]>();
  for (const [, name, items] of text.matchAll(/^const ([A-Z]+) = \[(.*)\];$/gm))
    lists.set(name!, itemsOf(items!, lists));
  const recipes = [...text.matchAll(/^ {2}(\w+): \{[^}]*?own: \[([^\]]*)\]/gm)];
  return recipes.map(([, name, items]) => ({ name: name!, own: new Set(itemsOf(items!, lists)) }));
}

function itemsOf(text: string, lists: ReadonlyMap<string, string[]>): string[] {
  return text.split(',').flatMap((item) => {
    const spread = /\.\.\.([A-Z]+)/.exec(item)?.[1];
    return spread ? (lists.get(spread) ?? []) : [item.replaceAll(/[\s']/g, '')];
  });
}

/** An import from a public name leads to the file from which the index exports it. */
function importsOf(file: string): string[] {
  return [...read(file).matchAll(IMPORT)].flatMap(([, imported, from]) => {
    if (from!.startsWith('.')) return [sourceOf(file, from!)];
    const index = names[from!]?.source.replace('./', '');
    const wanted = imported!.split(',').map((each) => each.replace('type ', '').trim());
    return index === undefined ? [] : exportsOf(index, wanted);
  });
}

function exportsOf(index: string, wanted: readonly string[]): string[] {
  return [...read(index).matchAll(IMPORT)]
    .filter(([, exported]) =>
      wanted.some((name) => name !== '' && new RegExp(`\\b${name}\\b`).test(exported!)),
    )
    .map(([, , from]) => sourceOf(index, from!));
}

function sourceOf(file: string, from: string): string {
  return posix.join(posix.dirname(file), from).replace(/\.js$/, '.ts');
}
