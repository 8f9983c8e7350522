import { link, mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { isAlive } from './is-alive.js';

const LOCK = 'starting';
const LONGEST_HOLD_MS = 60_000;

/** Does something with a folder while no other process does: two that start at once must not both bring a store. */
export async function inTurn<T>(folder: string, work: () => Promise<T>): Promise<T> {
  await mkdir(folder, { recursive: true });
  const lock = join(folder, LOCK);
  while (!(await take(lock))) {
    await clearAbandoned(lock);
    await pause(50);
  }
  try {
    return await work();
  } finally {
    await rm(lock, { force: true });
  }
}

async function take(lock: string): Promise<boolean> {
  const draft = `${lock}.${process.pid}.draft`;
  await writeFile(draft, String(process.pid));
  try {
    // Whole or not at all: a lock without its holder's id could never be told from an abandoned one.
    await link(draft, lock);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    await rm(draft, { force: true });
  }
}

/** Renamed before it is removed: of two that find it abandoned only one succeeds, and never at the next holder's cost. */
async function clearAbandoned(lock: string): Promise<void> {
  const holder = Number(await readFile(lock, 'utf8').catch(() => '0'));
  const { mtimeMs } = await stat(lock).catch(() => ({ mtimeMs: Date.now() }));
  // A process may have got the id of one that died: nobody holds it for long.
  if (isAlive(holder) && Date.now() - mtimeMs < LONGEST_HOLD_MS) return;
  const aside = `${lock}.${holder}.${process.pid}`;
  await rename(lock, aside).then(
    () => rm(aside, { force: true }),
    () => undefined,
  );
}
