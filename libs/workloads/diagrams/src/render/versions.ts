import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { DRAWERS, type DrawerName } from './drawers/load.js';

const versions = new Map<string, string>();

/** The package that draws, with its version: `mermaid 11.17.2 (chromium)`. */
export function rendererName(drawer: DrawerName): string {
  const { from, way } = DRAWERS[drawer];
  const version = versions.get(from) ?? readVersion(from);
  versions.set(from, version);
  return `${from} ${version}${way ? ` (${way})` : ''}`;
}

function readVersion(name: string): string {
  const folders = createRequire(import.meta.url).resolve.paths(name) ?? [];
  const manifest = folders.map((folder) => join(folder, name, 'package.json')).find(existsSync);
  if (!manifest) throw new Error(`${name} is not installed.`);
  return (JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }).version;
}
