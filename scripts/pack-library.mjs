/*
  Packs a library as the package that an application installs: libs/core as @mooring/core, and so on.

    node scripts/pack-library.mjs <library> <folder>    writes its archive into the folder and prints the path

  The package is built beside the sources, not among them: it holds the compiled code, the Lua texts that it reads at start, and its
  README.
*/
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const LIBRARIES = [
  'client',
  'console',
  'core',
  'durability',
  'http',
  'nestjs',
  'outbox',
  'partitions',
  'testing',
];
const root = dirname(dirname(fileURLToPath(import.meta.url)));
const [library, folder] = process.argv.slice(2);

if (!LIBRARIES.includes(library) || folder === undefined) {
  console.error(
    `Name the library and the folder for its package: node scripts/pack-library.mjs ${LIBRARIES.join('|')} <folder>`,
  );
  process.exit(2);
}
const home = join(root, 'libs', library);
const build = join(resolve(folder), 'build');
const stage = join(resolve(folder), 'package');
for (const made of [build, stage]) rmSync(made, { recursive: true, force: true });
mkdirSync(stage, { recursive: true });
compile();
copyTexts();
console.log(pack());

/** Imported files of other libraries are compiled too. Those of private ones become part of the package, the others are packages. */
function compile() {
  const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  run(process.execPath, [compiler, '-p', home, '--outDir', build, '--sourceMap', 'false'], root);
  cpSync(join(build, library, 'src'), join(stage, 'dist'), { recursive: true });
  for (const name of privateLibraries())
    cpSync(join(build, name, 'src'), join(stage, 'dist/private', name), { recursive: true });
}

function privateLibraries() {
  const targets = Object.values(manifest().imports ?? {});
  return targets.flatMap((target) => /^\.\/dist\/private\/([^/]+)\//.exec(target)?.slice(1) ?? []);
}

function copyTexts() {
  copyLua(join(home, 'src'), join(stage, 'dist'));
  for (const name of privateLibraries())
    copyLua(join(root, 'libs', name, 'src'), join(stage, 'dist/private', name));
  // The page of the console, as the build made it.
  const page = join(root, 'dist/libs', library, 'public');
  if (existsSync(page)) cpSync(page, join(stage, 'public'), { recursive: true });
  cpSync(join(home, 'README.md'), join(stage, 'README.md'));
  cpSync(join(root, 'LICENSE'), join(stage, 'LICENSE'));
  writeFileSync(join(stage, 'package.json'), `${JSON.stringify(manifest(), null, 2)}\n`);
}

function copyLua(source, target) {
  for (const file of readdirSync(source, { recursive: true }).filter((name) => name.endsWith('.lua')))
    cpSync(join(source, file), join(target, file));
}

/** Removes the path to the sources, which the package does not contain. */
function manifest() {
  const own = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8'));
  for (const entry of Object.values(own.exports)) delete entry.source;
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
