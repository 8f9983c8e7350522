import { access, constants } from 'node:fs/promises';
import { join } from 'node:path';

const NAMES = [
  'chromium',
  'chromium-browser',
  'google-chrome-stable',
  'google-chrome',
  'chrome-headless-shell',
];
const PLACES = ['/usr/bin', '/usr/local/bin', '/snap/bin', '/opt/google/chrome'];
const MAC = ['Google Chrome', 'Chromium'].map((name) => `/Applications/${name}.app/Contents/MacOS/${name}`);

/** The browser that Mermaid is drawn in: the one that is named, or one that lies where they do. */
export async function findChromium(named?: string): Promise<string | undefined> {
  if (named !== undefined) return named === 'off' ? undefined : named;
  const files = [...NAMES.flatMap((name) => PLACES.map((folder) => join(folder, name))), ...MAC];
  for (const file of files) if (await isProgram(file)) return file;
  return undefined;
}

function isProgram(file: string): Promise<boolean> {
  return access(file, constants.X_OK).then(
    () => true,
    () => false,
  );
}
