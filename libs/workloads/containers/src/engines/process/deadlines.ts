import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { withDraft } from './draft.js';

const DEADLINE = '.deadline';

/** Holds when a container must end if the fleet is dead, in seconds of this machine's clock. */
export function deadlineFile(folder: string, id: string): string {
  return join(folder, `${id}${DEADLINE}`);
}

/** Holds when a process of the fleet last announced itself, in the same unit. */
export function aliveFile(folder: string): string {
  return join(folder, 'alive');
}

/** The container id of a deadline file; undefined for other files. */
export function idOfDeadline(file: string): string | undefined {
  return file.endsWith(DEADLINE) ? file.slice(0, -DEADLINE.length) : undefined;
}

/** The deadlines of the containers in a folder. */
export class Deadlines {
  /** The values this process wrote last. */
  private readonly written = new Map<string, number>();

  constructor(private readonly folder: string) {}

  async set(id: string, atMs: number): Promise<void> {
    const seconds = Math.ceil(atMs / 1_000);
    // The difference between the store's and this machine's clock varies slightly.
    if (Math.abs((this.written.get(id) ?? 0) - seconds) <= 1) return;
    await this.put(deadlineFile(this.folder, id), seconds);
    this.written.set(id, seconds);
  }

  async forget(id: string): Promise<void> {
    this.written.delete(id);
    await rm(deadlineFile(this.folder, id), { force: true });
  }

  /** Announces that a process of the fleet is alive. */
  tellAlive(): Promise<void> {
    return this.put(aliveFile(this.folder), Math.floor(Date.now() / 1_000));
  }

  private put(file: string, seconds: number): Promise<void> {
    return withDraft(this.folder, `${seconds}\n`, (draft) => rename(draft, file));
  }
}
