// Runs the benchmarks: all of them, or those named: `npm run bench -- embedded`. `--json` is for a machine.
import { needNode } from './need-node.mjs';

needNode();
const { spawnSync } = await import('node:child_process');
const { buildIfStale } = await import('./build.mjs');
const BENCHES = ['cancel', 'diagrams', 'embedded', 'lifecycle', 'retention', 'slots', 'sweep'];

const args = process.argv.slice(2);
const named = args.filter((arg) => !isOption(arg));
const unknown = named.filter((name) => !BENCHES.includes(name));
if (unknown.length > 0) {
  console.error(`No benchmark is named ${unknown.join(', ')}; there are: ${BENCHES.join(', ')}.`);
  process.exit(1);
}
await buildIfStale(args.includes('--json') ? console.error : console.log);
let worst = 0;
for (const name of named.length > 0 ? named : BENCHES) {
  const file = `dist/bench/${name}/${name}.bench.js`;
  const options = args.filter(isOption);
  const { status } = spawnSync(process.execPath, [file, ...options], { stdio: 'inherit' });
  worst = Math.max(worst, status ?? 1);
}
process.exit(worst);

/** A flag, or the number behind one. */
function isOption(arg) {
  return /^(-|\d)/.test(arg);
}
