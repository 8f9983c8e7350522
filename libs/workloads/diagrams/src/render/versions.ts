import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { DrawerName } from './drawers/load.js';

const PACKAGES: Record<DrawerName, string> = {
  graphviz: '@viz-js/viz',
  nomnoml: 'nomnoml',
  wavedrom: 'wavedrom',
  pikchr: 'pikchr-js',
  bytefield: 'bytefield-svg',
  svgbob: 'svgbob-wasm',
  dbml: '@softwaretechnik/dbml-renderer',
  'vega-lite': 'vega-lite',
  d2: '@terrastruct/d2',
  'mermaid-chromium': 'mermaid',
  'mermaid-jsdom': 'mermaid',
  'mermaid-syntax': 'mermaid',
};
const HOW: Partial<Record<DrawerName, string>> = {
  'mermaid-chromium': ' (chromium)',
  'mermaid-jsdom': ' (jsdom)',
};

/** The package that draws, with its version: `mermaid 11.17.2 (chromium)`. */
export function rendererName(drawer: DrawerName): string {
  const name = PACKAGES[drawer];
  return `${name} ${versionOf(name)}${HOW[drawer] ?? ''}`;
}

const versions = new Map<string, string>();

function versionOf(name: string): string {
  const version = versions.get(name) ?? readVersion(name);
  versions.set(name, version);
  return version;
}

function readVersion(name: string): string {
  const folders = createRequire(import.meta.url).resolve.paths(name) ?? [];
  const manifest = folders.map((folder) => join(folder, name, 'package.json')).find(existsSync);
  if (!manifest) throw new Error(`${name} is not installed.`);
  return (JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }).version;
}
