// Compiles apps, libs and benchmarks into dist, copies the assets beside them, and packs the apps. With `--if-stale` only if a source changed. Two
// concurrent builds take turns.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { cp, link, mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { needNode } from './need-node.mjs';
import { pack } from './pack.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const dist = join(root, 'dist');
const stampFile = join(dist, '.stamp');
const lock = join(root, '.mooring', 'building');
/** Vite builds what is below it. */
const PAGE = 'libs/console/web/';
const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc');

/** Reports progress with `say`, so that a command with JSON output can print it elsewhere. */
export async function buildIfStale(say = console.log) {
  if (await isFresh()) return;
  if (!existsSync(compiler) || !existsSync(join(root, 'node_modules', '@types', 'node'))) {
    console.error(
      'The build is missing or old, and what compiles it is not installed. Run: npm ci --include=dev',
    );
    process.exit(1);
  }
  await inTurn(async () => {
    if (!(await isFresh())) await build(say);
  }, say);
}

async function build(say = console.log) {
  say('Building…');
  const stamp = await fingerprint();
  await rm(dist, { recursive: true, force: true });
  const [status] = await Promise.all([compile(), buildConsole()]);
  if (status !== 0) {
    console.error('The build failed; what is above says where.');
    process.exit(1);
  }
  for (const file of await sources()) {
    if (/\.(lua|html|txt)$/.test(file) && !file.startsWith(PAGE))
      await cp(join(root, file), join(dist, file));
  }
  await pack(root);
  // The stamp comes last: an interrupted build has none, and runs again.
  await writeFile(stampFile, stamp);
}

async function isFresh() {
  const stamp = await readFile(stampFile, 'utf8').catch(() => undefined);
  return stamp !== undefined && stamp === (await fingerprint());
}

/** The page of the console, into dist. */
async function buildConsole() {
  const { build: bundle } = await import('vite');
  await bundle({ configFile: join(root, 'libs/console/vite.config.mjs') });
}

/** Resolves with the compiler's exit code. The compiler ends with this process. */
async function compile() {
  const child = spawn(process.execPath, [compiler, '-p', 'tsconfig.build.json'], {
    cwd: root,
    stdio: 'inherit',
  });
  const end = () => {
    child.kill();
    process.exit(0);
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, end);
  const [code] = await once(child, 'exit');
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.off(signal, end);
  return code;
}

/** Changes when a source or the compiler changes. */
async function fingerprint() {
  const hash = createHash('sha256');
  for (const file of [...(await sources()), 'tsconfig.json', 'tsconfig.build.json', 'package-lock.json']) {
    const { size, mtimeMs } = await stat(join(root, file));
    hash.update(`${file} ${size} ${mtimeMs}\n`);
  }
  return hash.digest('hex');
}

async function sources() {
  const found = [];
  for (const folder of ['apps', 'libs', 'bench']) {
    for (const entry of await readdir(join(root, folder), { recursive: true, withFileTypes: true })) {
      if (
        entry.isFile() &&
        /\.(tsx?|mjs|css|svg|lua|html|txt)$/.test(entry.name) &&
        !entry.name.endsWith('.spec.ts')
      ) {
        found.push(join(entry.parentPath, entry.name).slice(root.length + 1));
      }
    }
  }
  return found.toSorted((a, b) => a.localeCompare(b));
}

/** Lets one process build at a time. The lock file has the id of its holder. */
async function inTurn(work, say = console.log) {
  await mkdir(dirname(lock), { recursive: true });
  for (let waits = 0; !(await take()); waits += 1) {
    await clearAbandoned();
    if (waits === 20) say('Waiting for another build…');
    await pause(100);
  }
  try {
    await work();
  } finally {
    await rm(lock, { force: true });
  }
}

async function take() {
  const draft = `${lock}.${process.pid}.draft`;
  await writeFile(draft, String(process.pid));
  try {
    // The lock appears with its content: without its holder's id it could not be told from an abandoned one.
    await link(draft, lock);
    return true;
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  } finally {
    await rm(draft, { force: true });
  }
}

/** Renames the lock before it removes it: if two processes find it abandoned, one succeeds, and a new holder keeps its lock. */
async function clearAbandoned() {
  const holder = Number(await readFile(lock, 'utf8').catch(() => '0'));
  const { mtimeMs } = await stat(lock).catch(() => ({ mtimeMs: Date.now() }));
  // Another process may have the id of one that died. No build takes two minutes.
  if (isAlive(holder) && Date.now() - mtimeMs < 120_000) return;
  const aside = `${lock}.${holder}.${process.pid}`;
  await rename(lock, aside).then(
    () => rm(aside, { force: true }),
    () => undefined,
  );
}

function isAlive(pid) {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  needNode();
  if (process.argv.includes('--if-stale')) await buildIfStale();
  else await inTurn(() => build());
}
