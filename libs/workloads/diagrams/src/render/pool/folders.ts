import { hash } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';

/** Of this machine: where others share its folder, their numbers say nothing here. Short, as a socket's path has to be. */
const HOST = hash('sha256', hostname(), 'hex').slice(0, 6);
const NAME = new RegExp(`^mooring-render-${HOST}-(\\d+)-`);

let swept: Promise<void> | undefined;

/** A process's, by the number of the worker it belongs to. With the first of them, those go whose worker is dead. */
export function makeFolder(): string {
  swept ??= sweepFolders();
  return mkdtempSync(join(tmpdir(), `mooring-render-${HOST}-${process.pid}-`));
}

/** Never rejects: a process that still writes there is harmless, and the next worker removes the folder. */
export async function removeFolder(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 }).catch(() => undefined);
}

export async function sweepFolders(): Promise<void> {
  const names = await readdir(tmpdir()).catch(() => []);
  const left = names.filter((name) => isDead(Number(NAME.exec(name)?.[1])));
  await Promise.all(left.map((name) => removeFolder(join(tmpdir(), name))));
}

function isDead(pid: number): boolean {
  if (!Number.isInteger(pid)) return false;
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}
