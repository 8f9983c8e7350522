import { readFileSync } from 'node:fs';
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

const folder = (createRequire(import.meta.url)('swagger-ui-dist/absolute-path.js') as () => string)();

/** Read when the process starts: no caller makes it open a file, and a file that is missing is noticed at once. */
const FILES: ReadonlyMap<string, PageFile> = new Map([
  ['start.js', { type: 'text/javascript; charset=utf-8', bytes: Buffer.from(START) }],
  ...Object.entries(TYPES).map(
    ([name, type]) => [name, { type, bytes: readFileSync(join(folder, name)) }] as const,
  ),
]);

/** A file of the page, by its name. */
export function pageFile(name: string): PageFile | undefined {
  return FILES.get(name);
}
