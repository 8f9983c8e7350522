// Runs the tests; with --tools those that need programs other than Node. All other arguments go to the test runner.
import { needNode } from './need-node.mjs';

needNode();
const { spawnSync } = await import('node:child_process');
const { fileURLToPath } = await import('node:url');
const runner = fileURLToPath(new URL('../node_modules/vitest/vitest.mjs', import.meta.url));
const args = process.argv.slice(2);
const { status } = spawnSync(process.execPath, [runner, 'run', ...args.filter((arg) => arg !== '--tools')], {
  stdio: 'inherit',
  env: { ...process.env, ...(args.includes('--tools') && { TEST_TOOLS: 'on' }) },
});
process.exit(status ?? 1);
