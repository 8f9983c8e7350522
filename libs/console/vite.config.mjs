// Builds the page into `dist/libs/console/public`: one script, one style sheet, one icon.
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

const at = (path) => fileURLToPath(new URL(path, import.meta.url));

/** The page is at `…/console`, without a slash at its end, and its files are below it. */
const besideThePage = (html) => html.replaceAll('"./assets/', '"console/assets/');

export default defineConfig({
  root: at('web'),
  base: './',
  plugins: [{ name: 'relative-to-the-page', transformIndexHtml: { order: 'post', handler: besideThePage } }],
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
