import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

/** What needs programs beside Node: PostgreSQL, Prometheus' promtool, a browser. `npm run test:tools` runs these. */
const TOOLS = '{apps,libs,test}/**/*.tools.spec.ts';
/** What needs real container engines. `npm run test:engines` starts them and runs these. */
const ENGINES = '{apps,libs,test}/**/*.engines.spec.ts';
/** What holds for every engine: there on the real ones, in the suite on what needs none. */
const CONTRACTS = '{apps,libs,test}/**/*.contract{,.nightly}.spec.ts';
/** What takes long: crashes at many points, chaos, memory, mutants. `npm run test:nightly` runs these. */
const NIGHTLY = '{apps,libs,test}/**/*.nightly.spec.ts';
/** What has a long form, by the environment that `scripts/test.mjs` sets for the night. */
const LONG_FORMS = [
  'libs/core/src/**/{crash-points,killed-processes,cancel-race,properties}.spec.ts',
  'libs/workloads/*/src/*-scripts.spec.ts',
  'test/faults/{cancel-crash,sweep-crash,operation-crash,outbox-crash,shutdown,launcher}.spec.ts',
];
/** What shows that the embedded store is a store: the core's own tests, and a walk. `npm run test:embedded` runs these on it. */
const ON_EMBEDDED = [
  'libs/core/src/{owners,queue}/**/*.spec.ts',
  'libs/core/src/worker/moored-worker.spec.ts',
  'test/flows/{probe,http,start}.flow.spec.ts',
  'test/faults/killed-worker.spec.ts',
];
const ALL = '{apps,libs,test}/**/*.spec.ts';

export default defineConfig({
  ssr: { resolve: { conditions: ['source'] } },
  resolve: { alias: sourcesOfPackages() },
  test: {
    ...chosen(),
    globalSetup: ['test/support/global-setup.ts'],
    setupFiles: process.env['TEST_CLUSTER'] ? ['test/support/one-node-cluster.setup.ts'] : [],
    testTimeout: 90_000,
    hookTimeout: 60_000,
    // Real processes and real servers on two cores: a few files at a time.
    maxWorkers: 3,
    // A file starts with the modules that the one before it loaded: to load them again took longer than most tests.
    isolate: false,
  },
});

function chosen(): { include: string[]; exclude?: string[]; fileParallelism?: boolean } {
  // One file at a time: they restart the engines that all of them use.
  if (process.env['TEST_DOCKER_HOSTS']) return { include: [ENGINES, CONTRACTS], fileParallelism: false };
  if (process.env['TEST_TOOLS']) return { include: [TOOLS] };
  if (process.env['TEST_EMBEDDED']) return { include: ON_EMBEDDED };
  if (process.env['TEST_NIGHTLY']) return { include: [NIGHTLY, ...LONG_FORMS] };
  return { include: [ALL], exclude: [TOOLS, ENGINES, NIGHTLY] };
}

/** For libs/console, libs/core, libs/http, libs/nestjs and libs/partitions: their own package.json names the published packages, as their users have them. */
function sourcesOfPackages(): { find: RegExp; replacement: string }[] {
  const source = (file: string) => fileURLToPath(new URL(`libs/${file}`, import.meta.url));
  return [
    { find: /^#bullmq-scripts$/, replacement: source('bullmq-scripts/src/index.ts') },
    { find: /^#core$/, replacement: source('core/src/index.ts') },
    { find: /^#core\/parts$/, replacement: source('core/src/parts.ts') },
    { find: /^#durability$/, replacement: source('durability/src/index.ts') },
    { find: /^#http$/, replacement: source('http/src/index.ts') },
    { find: /^#nestjs$/, replacement: source('nestjs/src/index.ts') },
    { find: /^#nestjs\/register$/, replacement: source('nestjs/src/register.ts') },
    { find: /^#nearest-name$/, replacement: source('nearest-name/src/index.ts') },
    { find: /^#sandbox$/, replacement: source('sandbox/src/index.ts') },
  ];
}
