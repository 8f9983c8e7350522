// Runs the tests; with --tools those that need programs other than Node, with --nightly those that take long, and the long forms of
// others. All other arguments go to the test runner.
import { needNode } from './need-node.mjs';

needNode();
const { spawnSync } = await import('node:child_process');
const { fileURLToPath } = await import('node:url');
const runner = fileURLToPath(new URL('../node_modules/vitest/vitest.mjs', import.meta.url));
const OF_SUITES = {
  '--tools': { TEST_TOOLS: 'on' },
  '--nightly': {
    TEST_NIGHTLY: 'on',
    CRASH_POINTS: 'all',
    CANCEL_RACE_TRIALS: '100000',
    PROPERTY_RUNS: '3000',
  },
};
const args = process.argv.slice(2);
const suite = args.find((arg) => arg in OF_SUITES);
const { status } = spawnSync(process.execPath, [runner, 'run', ...args.filter((arg) => arg !== suite)], {
  stdio: 'inherit',
  env: { ...OF_SUITES[suite], ...process.env },
});
process.exit(status ?? 1);
