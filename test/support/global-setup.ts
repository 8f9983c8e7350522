import { execFileSync } from 'node:child_process';
import type { TestProject } from 'vitest/node';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from './process.js';

declare module 'vitest' {
  interface ProvidedContext {
    storeUrl: string;
  }
}

/** Builds what the tests start as processes, and starts one store for the whole run, unless one is named. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  execFileSync(process.execPath, [join(root, 'scripts/build.mjs'), '--if-stale'], { stdio: 'inherit' });
  const named = process.env['TEST_REDIS_URL'];
  if (named) {
    project.provide('storeUrl', named);
    return async () => undefined;
  }
  if (process.env['TEST_CLUSTER']) {
    const { startOneNodeCluster } = await import('./one-node-cluster.js');
    const cluster = await startOneNodeCluster();
    project.provide('storeUrl', cluster.url);
    return () => cluster.stop();
  }
  // Imported only now: Node loads this file without the test runner, so the name resolves to the new build.
  const { startPrivateStore } = await import('#runtime');
  const folder = await mkdtemp(join(tmpdir(), 'mooring-test-'));
  const store = await startPrivateStore(folder);
  project.provide('storeUrl', store.url);
  return async () => {
    await store.stop();
    await rm(folder, { recursive: true, force: true });
  };
}
