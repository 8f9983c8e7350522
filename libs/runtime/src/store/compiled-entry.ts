import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** A compiled file, named by its path below `dist`: also found when this file runs from its source, as in a test. */
export function compiledEntry(path: string): string {
  const dist = import.meta.url.endsWith('.ts') ? '../../../../dist/' : '../../../../';
  const file = fileURLToPath(new URL(dist + path, import.meta.url));
  if (existsSync(file)) return file;
  throw new Error(`The build is missing (no dist/${path}). Run npm run build.`);
}
