import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';

/** Relative, so that it also works under the path of a proxy: the page is at `/docs`. */
export const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Mooring</title>
<link rel="stylesheet" href="docs/swagger-ui.css">
<link rel="stylesheet" href="docs/index.css">
<link rel="icon" type="image/png" href="docs/favicon-32x32.png" sizes="32x32">
</head>
<body>
<div id="swagger-ui"></div>
<script src="docs/swagger-ui-bundle.js"></script>
<script src="docs/swagger-ui-standalone-preset.js"></script>
<script src="docs/start.js"></script>
</body>
</html>
`;

const START = `window.ui = SwaggerUIBundle({
  url: 'openapi.json',
  dom_id: '#swagger-ui',
  deepLinking: true,
  validatorUrl: null,
  presets: [SwaggerUIBundle.presets.apis, SwaggerUIStandalonePreset],
  layout: 'StandaloneLayout',
});
`;

/** Swagger UI sets styles in its elements; everything else is a file of the page's own. */
export const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const TYPES: Readonly<Record<string, string>> = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'index.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'swagger-ui-standalone-preset.js': 'text/javascript; charset=utf-8',
  'favicon-32x32.png': 'image/png',
};

export interface PageFile {
  readonly type: string;
  readonly bytes: Buffer;
}

const files = new Map<string, Promise<PageFile>>([
  ['start.js', Promise.resolve({ type: 'text/javascript; charset=utf-8', bytes: Buffer.from(START) })],
]);

/** A file of the page, read once and kept: no caller makes the process open one. */
export function pageFile(name: string): Promise<PageFile> | undefined {
  if (!files.has(name) && Object.hasOwn(TYPES, name)) files.set(name, read(name));
  return files.get(name);
}

async function read(name: string): Promise<PageFile> {
  const folder = createRequire(import.meta.url)('swagger-ui-dist/absolute-path.js') as () => string;
  return { type: TYPES[name]!, bytes: await readFile(join(folder(), name)) };
}
