// Runs all benchmarks, or those that are named: `npm run bench -- embedded`. `--json` prints the document of the named
// benchmark, or { "benchmarks": { "<name>": its document } } for several; a failed one is { "error" }. Exit code 0: every
// target is met. 1: a target is missed (by core: only with `--targets`), or a benchmark failed. 2: a program that a benchmark
// needs is missing.
import { needNode } from './need-node.mjs';

needNode();
const { spawnSync } = await import('node:child_process');
const { buildIfStale } = await import('./build.mjs');
const BENCHES = [
  'cancel',
  'core',
  'diagrams',
  'embedded',
  'find',
  'limits',
  'outbox',
  'retention',
  'slots',
  'sweep',
];
/** Options that take a value. */
const WITH_WORDS = ['--sides', '--what'];
/** More than any benchmark prints. */
const MOST_BYTES = 64 * 1024 * 1024;

const args = process.argv.slice(2);
const options = args.filter(isOption);
const named = args.filter((arg, i) => !isOption(arg, i));
const unknown = named.filter((name) => !BENCHES.includes(name));
if (unknown.length > 0) {
  console.error(`No benchmark is named ${unknown.join(', ')}; there are: ${BENCHES.join(', ')}.`);
  process.exit(1);
}
const asJson = args.includes('--json');
await buildIfStale(asJson ? console.error : console.log);

const names = named.length > 0 ? named : BENCHES;
const collects = asJson && names.length > 1;
const benchmarks = {};
let worst = 0;
for (const name of names) {
  const file = `dist/bench/${name}/${name}.bench.js`;
  const stdio = ['inherit', collects ? 'pipe' : 'inherit', 'inherit'];
  const ran = spawnSync(process.execPath, [file, ...options], { stdio, maxBuffer: MOST_BYTES });
  worst = Math.max(worst, ran.status ?? 1);
  if (collects) benchmarks[name] = readDocument(ran);
}
if (collects) console.log(JSON.stringify({ benchmarks }, null, 2));
process.exitCode = worst;

/** The output of a benchmark. If it failed, the output is missing or incomplete, and stderr has the reason. */
function readDocument({ stdout, status, signal }) {
  try {
    return JSON.parse(stdout.toString());
  } catch {
    const how = signal ? `was ended by ${signal}` : `ended with code ${status}`;
    return { error: `It could not be measured and ${how}; stderr says why.` };
  }
}

/** A flag, or the value of one. */
function isOption(arg, i) {
  return /^(-|\d)/.test(arg) || WITH_WORDS.includes(args[i - 1]);
}
