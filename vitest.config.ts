import { defineConfig } from 'vitest/config';

/** What needs programs beside Node: PostgreSQL, Prometheus' promtool, a browser. `npm run test:tools` runs these. */
const TOOLS = '{apps,libs,test}/**/*.tools.spec.ts';

export default defineConfig({
  ssr: { resolve: { conditions: ['source'] } },
  test: {
    ...(process.env['TEST_TOOLS']
      ? { include: [TOOLS] }
      : { include: ['{apps,libs,test}/**/*.spec.ts'], exclude: [TOOLS] }),
    globalSetup: ['test/support/global-setup.ts'],
    testTimeout: 90_000,
    hookTimeout: 60_000,
    // Real processes and real servers on two cores: a few files at a time.
    maxWorkers: 2,
  },
});
