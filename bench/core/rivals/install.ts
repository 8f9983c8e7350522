import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));
const LISTED = join(ROOT, 'bench', 'core', 'rivals');
/** Outside of the sources: what is installed there is not compiled, and no package of Mooring finds it. */
const INSTALLED = join(ROOT, '.mooring', 'rivals');
const LOCK = 'package-lock.json';

/** Installs the other queues in the versions that their lock names, unless they are there already. */
export function installRivals(say: (line: string) => void): void {
  const isDone =
    existsSync(join(INSTALLED, 'node_modules', '.package-lock.json')) &&
    readFileSync(join(LISTED, LOCK)).equals(readFileSync(join(INSTALLED, LOCK)));
  if (isDone) return;
  say('Installing the other queues…');
  mkdirSync(INSTALLED, { recursive: true });
  for (const file of ['package.json', LOCK]) copyFileSync(join(LISTED, file), join(INSTALLED, file));
  const flags = ['ci', '--no-audit', '--no-fund', '--ignore-scripts'];
  const { status } = spawnSync('npm', flags, { cwd: INSTALLED, stdio: ['ignore', 'ignore', 'inherit'] });
  if (status !== 0) throw new Error(`npm ci ended with code ${status} in ${INSTALLED}`);
}

/** The package in the version that is measured. */
export function loadRival(name: string): unknown {
  return createRequire(join(INSTALLED, 'package.json'))(name);
}
