// Builds the page into `dist/libs/console/public`: one script, one style sheet, one icon.
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

const at = (path) => fileURLToPath(new URL(path, import.meta.url));

/** The page is at `…/console`, without a slash at its end, and its files are below it. */
const besideThePage = (file, { hostType }) => (hostType === 'html' ? `console/${file}` : { relative: true });

export default defineConfig({
  root: at('web'),
  base: './',
  experimental: { renderBuiltUrl: besideThePage },
  resolve: { alias: { '#client': at('../client/src/index.ts') } },
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: at('../../dist/libs/console/public'),
    emptyOutDir: true,
    target: 'es2022',
    modulePreload: { polyfill: false },
    // An inlined file would need a wider policy.
    assetsInlineLimit: 0,
  },
  logLevel: 'warn',
});
