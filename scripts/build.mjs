// Compiles apps, libs and benchmarks into dist, and copies the Lua that lies beside them. With `--if-stale` only when a
// source changed. Two builds at once take turns.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cp, mkdir, open, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const dist = join(root, 'dist');
const stampFile = join(dist, '.stamp');
const lock = join(root, '.mooring', 'building');
const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc');

export async function buildIfStale() {
  if (await isFresh()) return;
  if (!existsSync(compiler)) {
    console.error('The build is missing or old, and there is no compiler. Run: npm ci');
    process.exit(1);
  }
  await inTurn(async () => {
    if (!(await isFresh())) await build();
  });
}

async function build() {
  console.log('Building…');
  const stamp = await fingerprint();
  await rm(dist, { recursive: true, force: true });
  const { status } = spawnSync(process.execPath, [compiler, '-p', 'tsconfig.build.json'], {
    cwd: root,
    stdio: 'inherit',
  });
  if (status !== 0) {
    console.error('The build failed; what is above says where.');
    process.exit(1);
  }
  for (const file of await sources()) {
    if (file.endsWith('.lua')) await cp(join(root, file), join(dist, file));
  }
  // Last: a build that was cut short has no stamp, and is done again.
  await writeFile(stampFile, stamp);
}

async function isFresh() {
  const stamp = await readFile(stampFile, 'utf8').catch(() => undefined);
  return stamp !== undefined && stamp === (await fingerprint());
}

/** Changes whenever a source, or what compiles it, does. */
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
      if (entry.isFile() && /\.(ts|lua)$/.test(entry.name) && !entry.name.endsWith('.spec.ts')) {
        found.push(join(entry.parentPath, entry.name).slice(root.length + 1));
      }
    }
  }
  return found.toSorted((a, b) => a.localeCompare(b));
}

/** One builder at a time: who holds the lock is written in it. */
async function inTurn(work) {
  await mkdir(dirname(lock), { recursive: true });
  while (!(await take())) {
    await clearAbandoned();
    await pause(100);
  }
  try {
    await work();
  } finally {
    await rm(lock, { force: true });
  }
}

async function take() {
  try {
    const file = await open(lock, 'wx');
    await file.write(String(process.pid));
    await file.close();
    return true;
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  }
}

/** Renamed before it is removed: of two that find it abandoned only one succeeds, and never at the next holder's cost. */
async function clearAbandoned() {
  const holder = Number(await readFile(lock, 'utf8').catch(() => '0'));
  if (holder === 0 || isAlive(holder)) return;
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
  if (process.argv.includes('--if-stale')) await buildIfStale();
  else await inTurn(build);
}
