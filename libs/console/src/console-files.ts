import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname } from 'node:path';
import { gzipSync } from 'node:zlib';

export interface ConsoleFile {
  readonly type: string;
  readonly bytes: Buffer;
  readonly zipped: Buffer;
}

export interface ConsoleFiles {
  readonly page: ConsoleFile;
  readonly assets: ReadonlyMap<string, ConsoleFile>;
}

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** Where the built page is: beside the compiled code, or in `dist` if this file runs from its source. */
const FOLDERS = ['../public/', '../../../dist/libs/console/public/'];

/** The built page, read once. Undefined if it is not built. */
export function builtConsole(): ConsoleFiles | undefined {
  const folder = FOLDERS.map((path) => new URL(path, import.meta.url)).find((url) =>
    existsSync(new URL('index.html', url)),
  );
  if (!folder) return undefined;
  const assets = readdirSync(new URL('assets/', folder));
  return {
    page: read(new URL('index.html', folder)),
    assets: new Map(assets.map((name) => [name, read(new URL(`assets/${name}`, folder))])),
  };
}

function read(file: URL): ConsoleFile {
  const bytes = readFileSync(file);
  const type = TYPES[extname(file.pathname)] ?? 'application/octet-stream';
  return { type, bytes, zipped: gzipSync(bytes, { level: 9 }) };
}
