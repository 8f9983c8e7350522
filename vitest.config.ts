import { defineConfig } from 'vitest/config';

export default defineConfig({
  ssr: { resolve: { conditions: ['source'] } },
  test: {
    include: ['{apps,libs,test}/**/*.spec.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    testTimeout: 90_000,
    hookTimeout: 60_000,
    // Real processes and real servers on two cores: a few files at a time.
    maxWorkers: 2,
  },
});
