import { randomBytes } from 'node:crypto';
import { existsSync, type Dirent } from 'node:fs';
import { link, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { ContainerSpec } from '../container-engine.js';
import { Deadlines, idOfDeadline } from './deadlines.js';
import { withDraft } from './draft.js';
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
  readonly deadlines: Deadlines;
  private readonly folder: string;
  private known: string | undefined;

  constructor(folder: string) {
    this.folder = resolve(folder);
    this.deadlines = new Deadlines(this.folder);
  }

  /**
   * The id of the folder. Host names are not unique, and another folder on the same machine knows nothing of
   * these containers. The first reader assigns it, and again if the folder was deleted.
   */
  async place(): Promise<string> {
    const file = join(this.folder, PLACE);
    this.known ??= randomBytes(8).toString('hex');
    if (!existsSync(file)) await this.create(file, this.known);
    this.known = await readFile(file, 'utf8');
    return this.known;
  }

  newId(name: string): string {
    if (!NAME.test(name)) throw new Error(`"${name}" is no name for a container.`);
    return `${name}.${randomBytes(6).toString('hex')}`;
  }

  fileOf(name: string): string {
    return join(this.folder, `${name}${RECORD}`);
  }

  /** Succeeds only if the name is free. */
  claim(record: ContainerRecord): Promise<boolean> {
    // One line with its end, which is how a child reads it.
    return this.create(this.fileOf(record.name), `${JSON.stringify(record)}\n`);
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
    const entries = await readdir(this.folder, { withFileTypes: true }).catch(on<Dirent[]>('ENOENT', []));
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
    const isTaken = await rename(this.fileOf(name), aside).then(() => true, on('ENOENT', false));
    if (!isTaken) return;
    const taken = await read(aside);
    if (taken && taken.id !== id) await link(aside, this.fileOf(name)).catch(() => undefined);
    await rm(aside, { force: true });
    await this.deadlines.forget(id);
  }

  /** False if the file exists. Of concurrent callers one creates it. */
  private create(file: string, text: string): Promise<boolean> {
    return withDraft(this.folder, text, (draft) => link(draft, file).then(() => true, on('EEXIST', false)));
  }

  private async clearIfOld(name: string): Promise<void> {
    const draft = join(this.folder, name);
    const { mtimeMs } = await stat(draft).catch(() => ({ mtimeMs: Date.now() }));
    if (Date.now() - mtimeMs > DRAFT_MS) await rm(draft, { force: true });
  }
}

async function read(file: string): Promise<ContainerRecord | undefined> {
  const text = await readFile(file, 'utf8').catch(on('ENOENT', ''));
  try {
    const record = JSON.parse(text) as ContainerRecord;
    const isOne = ID.exec(record.id)?.[1] === record.name && record.labels && record.process;
    return isOne ? record : undefined;
  } catch {
    // No record, or another program's file.
    return undefined;
  }
}

function on<T>(code: string, answer: T): (error: unknown) => T {
  return (error) => {
    if ((error as NodeJS.ErrnoException).code === code) return answer;
    throw error;
  };
}
