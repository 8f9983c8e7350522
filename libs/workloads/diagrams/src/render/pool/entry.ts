import { existsSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

/** What a process runs: beside us, or in the build when this file runs from its source, as in a test. */
const ENTRIES = [
  '../child/renderer.process.js',
  '../../../../../../dist/libs/workloads/diagrams/src/render/child/renderer.process.js',
];

export function findEntry(): string {
  const entry = ENTRIES.map((path) => fileURLToPath(new URL(path, import.meta.url))).find(existsSync);
  if (entry) return entry;
  throw new Error('The build is missing (no renderer.process.js). Run npm run build.');
}

/** What a process loads: its own code, and the packages. Links count by their own name as well. */
export function codeFolders(entry: string): string[] {
  const packages = createRequire(entry).resolve.paths('saxes') ?? [];
  const named = [dirname(dirname(entry)), ...packages].filter(existsSync);
  const all = [...new Set([...named, ...named.map((each) => realpathSync(each))])];
  // Each once: of a folder named twice, or below another, Node 20 dies at its start.
  return all.filter((each) => !all.some((other) => each.startsWith(`${other}/`)));
}
