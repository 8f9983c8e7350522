import { constants } from 'node:fs';
import { mkdir, open, readdir, realpath, rename, rm, rmdir, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { ArtifactError } from '../artifact-error.js';
import {
  isArtifactFile,
  pathOf,
  type ByteRange,
  type ByteStore,
  type Chunks,
  type Folders,
  type Written,
} from './byte-store.js';
import { Measured } from './measured.js';

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY } = constants;
/** Suffix of incomplete files. One that a crash left is removed with its folder. */
const PART = '.part';
/** Creating a file is retried, because a concurrent removal may delete the folder. */
const FOLDER_TRIES = 5;

/** Stores bytes in files below one folder. Symbolic links are never followed. */
export class FileStore implements ByteStore {
  /** What the last page has left of a listing, and the path after which it goes on. */
  private rest: { readonly after: string; readonly names: string[] } | undefined;

  constructor(
    private readonly base: string,
    private readonly root: string,
  ) {}

  async put(folder: string, file: string, bytes: Chunks, most: number): Promise<Written> {
    const path = this.pathOf(folder, file);
    const part = `${path}${PART}`;
    const handle = await this.create(folder, part);
    const measured = new Measured(most);
    try {
      try {
        for await (const chunk of measured.through(bytes)) await handle.writeFile(chunk);
        await handle.sync();
      } finally {
        await handle.close();
      }
      await rename(part, path).catch(removedMeanwhile);
    } catch (error) {
      await rm(part, { force: true });
      await this.removeEmpty(folder);
      throw error;
    }
    // Directory entries must survive a power failure too.
    await Promise.all([folder, folder.split('/')[0]!].map((each) => syncFolder(this.pathOf(each))));
    return measured.written();
  }

  async open(folder: string, file: string, range?: ByteRange, whole?: number): Promise<Readable | undefined> {
    const path = this.pathOf(folder, file);
    if (!(await this.hasFolder(folder))) return undefined;
    const handle = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch(nothingIfMissing);
    if (!handle) return undefined;
    let isWhole = false;
    try {
      const stats = await handle.stat();
      // A truncated file is treated as missing, because its reader would wait for the rest.
      isWhole = stats.isFile() && stats.size === (whole ?? stats.size);
    } finally {
      if (!isWhole) await handle.close();
    }
    return isWhole ? handle.createReadStream(range && { start: range.first, end: range.last }) : undefined;
  }

  async remove(folder: string, file: string): Promise<void> {
    const path = this.pathOf(folder, file);
    if (!(await this.hasFolder(folder))) return;
    // Removes a link itself, not its target.
    await rm(path, { force: true });
    await rm(`${path}${PART}`, { force: true });
    await this.removeEmpty(folder);
  }

  async files(folder: string): Promise<string[]> {
    const names = await this.names(folder);
    const whole = names.map((name) => (name.endsWith(PART) ? name.slice(0, -PART.length) : name));
    return [...new Set(whole.filter(isArtifactFile))];
  }

  /** A directory can only be read completely, so later pages come from the listing of the first. */
  async folders(shard: string, after: string, limit: number): Promise<Folders> {
    const goesOn = this.rest?.after === `${shard}/${after}`;
    const names = goesOn
      ? this.rest!.names
      : (await this.names(shard)).filter((name) => name > after).toSorted();
    const page = names.splice(0, limit);
    const isMore = names.length > 0;
    this.rest = isMore ? { after: `${shard}/${page.at(-1)}`, names } : undefined;
    return { names: page, isMore };
  }

  private async names(folder: string): Promise<string[]> {
    if (!(await this.hasFolder(folder))) return [];
    return (await readdir(this.pathOf(folder)).catch(nothingIfMissing)) ?? [];
  }

  private async create(folder: string, part: string): Promise<FileHandle> {
    for (let tries = 1; ; tries += 1) {
      try {
        await this.makeFolder(folder);
        return await open(part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
      } catch (error) {
        if (!isMissing(error) || tries === FOLDER_TRIES) throw error;
      }
    }
  }

  /** Creates and checks one level at a time, so that nothing is created below a link. */
  private async makeFolder(folder: string): Promise<void> {
    await mkdir(this.base, { recursive: true, mode: 0o700 });
    const levels = pathOf(this.root, folder).split('/');
    for (const i of levels.keys()) {
      const path = levels.slice(0, i + 1).join('/');
      await mkdir(join(this.base, path), { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'EEXIST') throw error;
      });
      await this.checkPath(path);
    }
  }

  private async hasFolder(folder: string): Promise<boolean> {
    const path = await this.checkPath(pathOf(this.root, folder)).catch(nothingIfMissing);
    return path !== undefined;
  }

  /** Throws if a part of the path is missing or a link. */
  private async checkPath(path: string): Promise<string> {
    const real = await realpath(join(this.base, path));
    if (real !== join(await realpath(this.base), path))
      throw new Error(`The folder ${path} of the artifacts contains a symbolic link. Remove the link.`);
    return real;
  }

  private pathOf(...parts: string[]): string {
    return join(this.base, pathOf(this.root, ...parts));
  }

  private async removeEmpty(folder: string): Promise<void> {
    await rmdir(this.pathOf(folder)).catch((error: NodeJS.ErrnoException) => {
      if (!['ENOENT', 'ENOTEMPTY', 'EEXIST'].includes(error.code ?? '')) throw error;
    });
  }
}

function removedMeanwhile(error: Error): never {
  if (!isMissing(error)) throw error;
  throw new ArtifactError('REMOVED', 'The artifacts of this job were removed while one was written.', {
    cause: error,
  });
}

function nothingIfMissing(error: Error): undefined {
  if (!isMissing(error)) throw error;
}

function isMissing(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ENOENT';
}

async function syncFolder(path: string): Promise<void> {
  const handle = await open(path, O_RDONLY).catch(() => undefined);
  // Some systems cannot sync directories.
  await handle?.sync().catch(() => undefined);
  await handle?.close();
}
