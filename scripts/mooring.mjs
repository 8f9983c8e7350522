#!/usr/bin/env node
// The command line tool. In a clone that was never built it builds first; where there is no source, dist is all there is.
// Plain syntax until the version is known: an old Node must be able to read this far.
import { needNode } from './need-node.mjs';

needNode();
const { existsSync } = await import('node:fs');
const here = (path) => new URL(path, import.meta.url);
// A build that was cut short has no stamp. One that is merely old will do: a fleet may be running on it.
if (!existsSync(here('../dist/.stamp')) && existsSync(here('../apps/cli/src/main.ts'))) {
  const { buildIfStale } = await import('./build.mjs');
  await buildIfStale(console.error);
}
await import('../dist/apps/cli/src/main.js');
