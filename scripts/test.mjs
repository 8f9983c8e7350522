// Runs the suite. All arguments go to the test runner.
import { needNode } from './need-node.mjs';

needNode();
const { spawnSync } = await import('node:child_process');
const { fileURLToPath } = await import('node:url');
const runner = fileURLToPath(new URL('../node_modules/vitest/vitest.mjs', import.meta.url));
const { status } = spawnSync(process.execPath, [runner, 'run', ...process.argv.slice(2)], {
  stdio: 'inherit',
});
process.exit(status ?? 1);
