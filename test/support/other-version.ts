import {
  appendFileSync,
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from './process.js';

/** Another version of the project: its build, changed as a test says. */
export class OtherVersion {
  readonly home = mkdtempSync(join(tmpdir(), 'mooring-version-'));

  constructor() {
    cpSync(join(root, 'package.json'), join(this.home, 'package.json'));
    for (const folder of ['libs', 'apps'])
      cpSync(join(root, 'dist', folder), join(this.home, 'dist', folder), { recursive: true });
    symlinkSync(join(root, 'node_modules'), join(this.home, 'node_modules'));
  }

  /** Changes the text of a compiled file. What is not there cannot be changed. */
  change(file: string, from: string | RegExp, to: string): void {
    const path = join(this.home, 'dist', file);
    const text = readFileSync(path, 'utf8');
    const changed = text.replace(from, to);
    if (changed === text) throw new Error(`${file} has no ${String(from)}`);
    writeFileSync(path, changed);
  }

  /** The store knows a script by its text: these are others than those of this version. */
  changeScripts(): void {
    const folder = join(this.home, 'dist/libs/core/src/scripts/lua');
    for (const file of readdirSync(folder)) appendFileSync(join(folder, file), '\n-- Another version.\n');
  }

  remove(): void {
    rmSync(this.home, { recursive: true, force: true });
  }
}
