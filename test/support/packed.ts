import { execFile, execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { root } from './process.js';

const run = promisify(execFile);

/** An application that has installed some of Mooring's packages with BullMQ and ioredis, and nothing else. */
export class Installed {
  private constructor(readonly folder: string) {}

  static async of(...libraries: readonly string[]): Promise<Installed> {
    const app = new Installed(await mkdtemp(join(tmpdir(), 'mooring-packed-')));
    for (const library of libraries) await app.install(library);
    for (const name of ['bullmq', 'ioredis']) {
      await symlink(join(root, 'node_modules', name), join(app.folder, 'node_modules', name));
    }
    await app.write('package.json', JSON.stringify({ type: 'module' }));
    return app;
  }

  private async install(library: string): Promise<void> {
    const pack = [join(root, 'scripts/pack-library.mjs'), library, this.folder];
    const archive = execFileSync(process.execPath, pack, { encoding: 'utf8' }).trim();
    const home = join(this.folder, 'node_modules/@mooring', library);
    await mkdir(home, { recursive: true });
    execFileSync('tar', ['-xzf', archive, '-C', home, '--strip-components=1']);
  }

  async write(file: string, text: string): Promise<void> {
    await writeFile(join(this.folder, file), text);
  }

  /** The output of a program, as JSON. */
  async run(file: string, text: string): Promise<unknown> {
    await this.write(file, text);
    const { stdout } = await run(process.execPath, [file], { cwd: this.folder });
    return JSON.parse(stdout);
  }

  /** Returns the output of the compiler. */
  async compile(file: string, text: string): Promise<string> {
    await this.write(file, text);
    const compiler = join(root, 'node_modules/typescript/bin/tsc');
    const options = ['--noEmit', '--strict', '--skipLibCheck', '--types', 'node'];
    const types = ['--typeRoots', join(root, 'node_modules/@types')];
    const language = ['--module', 'nodenext', '--target', 'es2023'];
    const compiled = run(process.execPath, [compiler, ...options, ...types, ...language, file], {
      cwd: this.folder,
    });
    return compiled.then(
      ({ stdout }) => stdout,
      (error: { stdout: string }) => error.stdout,
    );
  }

  async remove(): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
  }
}
