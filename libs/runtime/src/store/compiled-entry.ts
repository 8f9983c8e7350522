import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A compiled file, named by its path below `dist`: also found when this file runs from its source, as in a test. */
export function compiledEntry(path: string): string {
  const file = join(packageRoot(dirname(fileURLToPath(import.meta.url))), 'dist', path);
  if (existsSync(file)) return file;
  throw new Error(`The build is missing (no dist/${path}). Run npm run build.`);
}

function packageRoot(from: string): string {
  const manifest = join(from, 'package.json');
  if (existsSync(manifest)) {
    const { name } = JSON.parse(readFileSync(manifest, 'utf8')) as { name?: string };
    if (name === 'mooring') return from;
  }
  const above = dirname(from);
  if (above === from) throw new Error('No package.json of mooring above the store.');
  return packageRoot(above);
}
