import { randomBytes } from 'node:crypto';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const DEADLINE = '.deadline';

/** Until when a container may run when the fleet is dead: seconds of this machine's clock. */
export function deadlineFile(folder: string, id: string): string {
  return join(folder, `${id}${DEADLINE}`);
}

/** When a process of the fleet last said that it lives, likewise. */
export function aliveFile(folder: string): string {
  return join(folder, 'alive');
}

/** The container whose deadline a file has; nothing when it is another file. */
export function idOfDeadline(file: string): string | undefined {
  return file.endsWith(DEADLINE) ? file.slice(0, -DEADLINE.length) : undefined;
}

/** The deadlines of the containers in a folder. A file is there whole, so that a child never reads half a number. */
export class Deadlines {
  /** As they were written last by this process. */
  private readonly written = new Map<string, number>();

  constructor(private readonly folder: string) {}

  async set(id: string, atMs: number): Promise<void> {
    const seconds = Math.ceil(atMs / 1_000);
    // The clocks of store and machine differ by a little each time they are asked.
    if (Math.abs((this.written.get(id) ?? 0) - seconds) <= 1) return;
    await this.put(deadlineFile(this.folder, id), seconds);
    this.written.set(id, seconds);
  }

  async forget(id: string): Promise<void> {
    this.written.delete(id);
    await rm(deadlineFile(this.folder, id), { force: true });
  }

  tellAlive(): Promise<void> {
    return this.put(aliveFile(this.folder), Math.floor(Date.now() / 1_000));
  }

  private async put(file: string, seconds: number): Promise<void> {
    await mkdir(this.folder, { recursive: true, mode: 0o700 });
    const draft = join(this.folder, `.deadline.${randomBytes(6).toString('hex')}`);
    await writeFile(draft, `${seconds}\n`, { mode: 0o600 });
    await rename(draft, file);
  }
}
