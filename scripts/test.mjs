// Runs the tests; with --tools those that need programs other than Node, with --nightly those that take long, and the long forms of
// others, with --embedded the core and a few flows on the embedded store, with --cluster what `npm test` runs, on a Cluster. All other arguments go to the test runner.
import { needNode } from './need-node.mjs';

needNode();
const { spawnSync } = await import('node:child_process');
const { mkdtempSync, rmSync, symlinkSync } = await import('node:fs');
const { tmpdir } = await import('node:os');
const path = await import('node:path');
const { fileURLToPath } = await import('node:url');
const runner = fileURLToPath(new URL('../node_modules/vitest/vitest.mjs', import.meta.url));
const OF_SUITES = {
  '--tools': { TEST_TOOLS: 'on' },
  '--embedded': { TEST_EMBEDDED: 'on' },
  '--cluster': { TEST_CLUSTER: 'on' },
  '--nightly': {
    TEST_NIGHTLY: 'on',
    CRASH_POINTS: 'all',
    CANCEL_RACE_TRIALS: '100000',
    PROPERTY_RUNS: '3000',
  },
};
const args = process.argv.slice(2);
const suite = args.find((arg) => arg in OF_SUITES);
// A PATH that has Node and no server: so the store is the embedded one.
const bare = suite === '--embedded' && mkdtempSync(path.join(tmpdir(), 'mooring-bare-'));
if (bare) symlinkSync(process.execPath, path.join(bare, 'node'));
const { status } = spawnSync(process.execPath, [runner, 'run', ...args.filter((arg) => arg !== suite)], {
  stdio: 'inherit',
  env: { ...OF_SUITES[suite], ...process.env, ...(bare && { PATH: bare }) },
});
if (bare) rmSync(bare, { recursive: true });
process.exit(status ?? 1);
