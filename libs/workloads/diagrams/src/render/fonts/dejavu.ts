import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const FOLDER = dirname(createRequire(import.meta.url).resolve('dejavu-fonts-ttf/ttf/DejaVuSans.ttf'));

/** The file of one of the fonts that we bring, as of `DejaVuSans-Bold`. */
export function dejaVuFile(name: string): string {
  return join(FOLDER, `${name}.ttf`);
}
