// Compiles apps, libs and benchmarks into dist, and copies the Lua that lies beside them. With `--if-stale` only when a
// source changed. Two builds at once take turns.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cp, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const dist = join(root, 'dist');
const stampFile = join(dist, '.stamp');
const lock = join(root, '.mooring', 'build.lock');
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
  return found.toSorted();
}

/** One builder at a time: the folder is the lock, and who holds it is written inside. */
async function inTurn(work) {
  await mkdir(dirname(lock), { recursive: true });
  while (
    !(await mkdir(lock).then(
      () => true,
      () => false,
    ))
  ) {
    const holder = Number(await readFile(join(lock, 'pid'), 'utf8').catch(() => '0'));
    const { mtimeMs = Date.now() } = await stat(lock).catch(() => ({}));
    const abandoned = holder ? !isAlive(holder) : Date.now() - mtimeMs > 5_000;
    if (abandoned) await rm(lock, { recursive: true, force: true });
    else await pause(100);
  }
  try {
    await writeFile(join(lock, 'pid'), String(process.pid));
    await work();
  } finally {
    await rm(lock, { recursive: true, force: true });
  }
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
