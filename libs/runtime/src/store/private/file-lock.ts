import { link, mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { isAlive } from './is-alive.js';

const LOCK = 'starting';
const LONGEST_HOLD_MS = 60_000;

/** Holds a lock in `folder` while `work` runs, so that two processes that start at once do not both start a store. */
export async function withFileLock<T>(folder: string, work: () => Promise<T>): Promise<T> {
  await mkdir(folder, { recursive: true });
  const lock = join(folder, LOCK);
  while (!(await acquire(lock))) {
    await clearAbandoned(lock);
    await pause(50);
  }
  try {
    return await work();
  } finally {
    await rm(lock, { force: true });
  }
}

async function acquire(lock: string): Promise<boolean> {
  const draft = `${lock}.${process.pid}.draft`;
  await writeFile(draft, String(process.pid));
  try {
    // Linking is atomic: a lock without the id of its holder would look abandoned.
    await link(draft, lock);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    await rm(draft, { force: true });
  }
}

/** Renames before removing: of two processes that find the lock abandoned only one succeeds, and a new lock is never removed. */
async function clearAbandoned(lock: string): Promise<void> {
  const holder = Number(await readFile(lock, 'utf8').catch(() => '0'));
  const { mtimeMs } = await stat(lock).catch(() => ({ mtimeMs: Date.now() }));
  // The id may belong to a new process by now, so a lock also expires by age.
  if (isAlive(holder) && Date.now() - mtimeMs < LONGEST_HOLD_MS) return;
  const aside = `${lock}.${holder}.${process.pid}`;
  await rename(lock, aside).then(
    () => rm(aside, { force: true }),
    () => undefined,
  );
}
