import { randomBytes } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync, type Dirent } from 'node:fs';
import { link, mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { ContainerSpec } from '../container-engine.js';
import { Deadlines, idOfDeadline } from './deadlines.js';
import type { ProcessIdentity } from './process-identity.js';

export interface ContainerRecord extends ContainerSpec {
  readonly id: string;
  readonly createdAt: number;
  readonly process: ProcessIdentity;
}

/** Engine container names, which are also file names here. */
const NAME = /^[a-zA-Z0-9][a-zA-Z0-9_.-]{1,199}$/;
const ID = /^(.+)\.[0-9a-f]{12}$/;
const RECORD = '.json';
const PLACE = 'place';
/** A draft this old belongs to a dead process. */
const DRAFT_MS = 60_000;

/** The containers of this machine, one file each, written atomically. */
export class Registry {
  private readonly folder: string;
  private readonly deadlines: Deadlines;
  private known: string | undefined;

  constructor(folder: string) {
    this.folder = resolve(folder);
    this.deadlines = new Deadlines(this.folder);
  }

  /**
   * The id of the folder. Host names are not unique, and another folder on the same machine knows nothing of
   * these containers. The first reader assigns it, and again if the folder was deleted.
   */
  get place(): string {
    const file = join(this.folder, PLACE);
    this.known = readIfThere(file) ?? this.give(file, this.known ?? randomBytes(8).toString('hex'));
    return this.known;
  }

  newId(name: string): string {
    if (!NAME.test(name)) throw new Error(`"${name}" is no name for a container.`);
    return `${name}.${randomBytes(6).toString('hex')}`;
  }

  fileOf(name: string): string {
    return join(this.folder, `${name}${RECORD}`);
  }

  /** Succeeds only if the name is free. Of concurrent callers one succeeds. */
  async claim(record: ContainerRecord): Promise<boolean> {
    await mkdir(this.folder, { recursive: true, mode: 0o700 });
    const draft = join(this.folder, `.${record.id}`);
    try {
      // One line with its end, which is how a child reads it.
      await writeFile(draft, `${JSON.stringify(record)}\n`, { mode: 0o600 });
      await link(draft, this.fileOf(record.name));
      return true;
    } catch (error) {
      if (codeOf(error) === 'EEXIST') return false;
      throw error;
    } finally {
      await rm(draft, { force: true });
    }
  }

  async named(name: string): Promise<ContainerRecord | undefined> {
    return NAME.test(name) ? read(this.fileOf(name)) : undefined;
  }

  async find(id: string): Promise<ContainerRecord | undefined> {
    const [, name = ''] = ID.exec(id) ?? [];
    const record = await this.named(name);
    return record?.id === id ? record : undefined;
  }

  async *all(): AsyncGenerator<ContainerRecord> {
    const entries = await readdir(this.folder, { withFileTypes: true }).catch(missing<Dirent[]>([]));
    for (const { name } of entries.filter((entry) => entry.isFile())) {
      if (name.startsWith('.')) await this.clearIfOld(name);
      const ends = idOfDeadline(name);
      if (ends !== undefined && !(await this.find(ends))) await this.clearIfOld(name);
      const record = name.endsWith(RECORD) && (await this.named(name.slice(0, -RECORD.length)));
      if (record) yield record;
    }
  }

  /** Moves the record aside and checks it first, so that a new owner of the name keeps theirs. */
  async drop({ id, name }: ContainerRecord): Promise<void> {
    const aside = join(this.folder, `.${this.newId(name)}`);
    const isTaken = await rename(this.fileOf(name), aside).then(() => true, missing(false));
    if (!isTaken) return;
    const taken = await read(aside);
    if (taken && taken.id !== id) await link(aside, this.fileOf(name)).catch(() => undefined);
    await rm(aside, { force: true });
    await this.forgetDeadline(id);
  }

  setDeadline(id: string, atMs: number): Promise<void> {
    return this.deadlines.set(id, atMs);
  }

  forgetDeadline(id: string): Promise<void> {
    return this.deadlines.forget(id);
  }

  /** Announces that a process of the fleet is alive. */
  tellAlive(): Promise<void> {
    return this.deadlines.tellAlive();
  }

  /** Of concurrent callers one assigns it. */
  private give(file: string, place: string): string {
    mkdirSync(this.folder, { recursive: true, mode: 0o700 });
    const draft = join(this.folder, `.${PLACE}.${randomBytes(6).toString('hex')}`);
    writeFileSync(draft, place, { mode: 0o600 });
    try {
      linkSync(draft, file);
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error;
    } finally {
      rmSync(draft, { force: true });
    }
    return readFileSync(file, 'utf8');
  }

  private async clearIfOld(name: string): Promise<void> {
    const draft = join(this.folder, name);
    const { mtimeMs } = await stat(draft).catch(() => ({ mtimeMs: Date.now() }));
    if (Date.now() - mtimeMs > DRAFT_MS) await rm(draft, { force: true });
  }
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    return missing(undefined)(error);
  }
}

async function read(file: string): Promise<ContainerRecord | undefined> {
  const text = await readFile(file, 'utf8').catch(missing(''));
  try {
    const record = JSON.parse(text) as ContainerRecord;
    const isOne = ID.exec(record.id)?.[1] === record.name && record.labels && record.process;
    return isOne ? record : undefined;
  } catch {
    // No record, or another program's file.
    return undefined;
  }
}

function missing<T>(answer: T): (error: unknown) => T {
  return (error) => {
    if (codeOf(error) === 'ENOENT') return answer;
    throw error;
  };
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code;
}
