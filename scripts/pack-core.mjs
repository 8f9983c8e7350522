/*
  Packs libs/core as the package that an application installs.

    node scripts/pack-core.mjs <folder>    writes mooring-core-<version>.tgz into the folder and prints its path

  The package is built beside the sources, not among them: it holds the compiled code, the Lua texts that it reads at start, and its
  README.
*/
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const core = join(root, 'libs', 'core');
const folder = process.argv[2];

if (folder === undefined) {
  console.error('Name the folder for the package: node scripts/pack-core.mjs <folder>');
  process.exit(2);
}
const stage = join(resolve(folder), 'package');
rmSync(stage, { recursive: true, force: true });
mkdirSync(stage, { recursive: true });
compile();
copyTexts();
console.log(pack());

function compile() {
  const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  run(
    process.execPath,
    [compiler, '-p', core, '--outDir', join(stage, 'dist'), '--sourceMap', 'false'],
    root,
  );
}

function copyTexts() {
  const source = join(core, 'src');
  for (const file of readdirSync(source, { recursive: true }).filter((name) => name.endsWith('.lua'))) {
    cpSync(join(source, file), join(stage, 'dist', file));
  }
  cpSync(join(core, 'README.md'), join(stage, 'README.md'));
  cpSync(join(root, 'LICENSE'), join(stage, 'LICENSE'));
  writeFileSync(join(stage, 'package.json'), `${JSON.stringify(manifest(), null, 2)}\n`);
}

/** Without the way to the sources, which the package does not hold. */
function manifest() {
  const own = JSON.parse(readFileSync(join(core, 'package.json'), 'utf8'));
  delete own.exports['.'].source;
  return own;
}

function pack() {
  const [{ filename }] = JSON.parse(
    run('npm', ['pack', '--json', '--pack-destination', resolve(folder)], stage),
  );
  return join(resolve(folder), filename);
}

function run(program, args, cwd) {
  return execFileSync(program, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
}
