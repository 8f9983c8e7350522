import { fork, type ChildProcess } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { PoolSpec } from './spec.js';

/** Node's wall around a process: Node 20 knows it by the first name only, Node 24 by the second only. */
const WALL = ['--experimental-permission', '--permission'].filter((flag) =>
  process.allowedNodeEnvironmentFlags.has(flag),
);

/** What a process runs: beside us, or in the build when this file runs from its source, as in a test. */
const ENTRIES = [
  '../child/renderer.process.js',
  '../../../../../../dist/libs/workloads/diagrams/src/render/child/renderer.process.js',
];

/** With nothing of our environment. */
export function start(spec: PoolSpec, folder: string): ChildProcess {
  const entry = findEntry();
  const child = fork(entry, [JSON.stringify(spec.setup)], {
    cwd: folder,
    env: {},
    execArgv: [
      `--max-old-space-size=${spec.heapMb}`,
      '--no-warnings',
      ...(spec.compilesQuickly ? ['--liftoff-only'] : []),
      ...wallOf(spec, entry, folder),
    ],
    serialization: 'advanced',
    // The last is the pipe by which it notices that this process died.
    stdio: ['ignore', 'ignore', 'pipe', 'ipc', 'pipe'],
  });
  letGo(child);
  return child;
}

export function findEntry(): string {
  const entry = ENTRIES.map((path) => fileURLToPath(new URL(path, import.meta.url))).find(existsSync);
  if (entry) return entry;
  throw new Error('The build is missing (no renderer.process.js). Run npm run build.');
}

/** It reads its own code, and writes at most to the folder that it is given. It starts a thread, around which there is no wall; a renderer finds each door to another closed. */
export function wallOf({ setup, evaluates }: PoolSpec, entry: string, own = '/'): string[] {
  // A browser cannot be started behind it; nothing of a source runs in this process then.
  if (setup.role === 'browse') return [];
  return [
    WALL.at(-1)!,
    '--allow-worker',
    ...(setup.role === 'finish' ? ['--allow-addons', ...folderFlags(realpathSync(own))] : []),
    ...(evaluates ? [] : ['--disallow-code-generation-from-strings']),
    ...codeFolders(entry).map((folder) => `--allow-fs-read=${folder}`),
  ];
}

function folderFlags(path: string): string[] {
  return [`--allow-fs-read=${path}`, `--allow-fs-write=${path}`];
}

/** What a process loads: its own code, and the packages. Links count by their own name as well. */
function codeFolders(entry: string): string[] {
  const packages = createRequire(entry).resolve.paths('saxes') ?? [];
  const named = [dirname(dirname(entry)), ...packages].filter(existsSync);
  const all = [...new Set([...named, ...named.map((each) => realpathSync(each))])];
  // Each once: of a folder named twice, or below another, Node 20 dies at its start.
  return all.filter((each) => !all.some((other) => each.startsWith(`${other}/`)));
}

/** An idle process must not keep its parent alive; a caller that waits for one has a timer. */
function letGo(child: ChildProcess): void {
  child.unref();
  child.channel?.unref();
  for (const pipe of child.stdio ?? []) (pipe as { unref?(): void } | null)?.unref?.();
}
