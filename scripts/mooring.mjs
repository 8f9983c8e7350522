#!/usr/bin/env node
// The command line tool. In a clone without a build it builds first; a package without sources has only dist.
// Plain syntax until the version is known: an old Node must be able to read this far.
import { needNode } from './need-node.mjs';

needNode();
const { existsSync } = await import('node:fs');
const here = (path) => new URL(path, import.meta.url);
// An interrupted build has no stamp. An old build is good enough: a fleet may be running on it.
if (!existsSync(here('../dist/.stamp')) && existsSync(here('../apps/cli/src/main.ts'))) {
  const { buildIfStale } = await import('./build.mjs');
  await buildIfStale(console.error);
}
await import('../dist/apps/cli/src/main.js');
