import { mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { isAlive } from './is-alive.js';

const LOCK = 'starting';

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
  try {
    const file = await open(lock, 'wx');
    await file.write(String(process.pid));
    await file.close();
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/** Renamed before it is removed: of two that find it abandoned only one succeeds, and never at the next holder's cost. */
async function clearAbandoned(lock: string): Promise<void> {
  const holder = Number(await readFile(lock, 'utf8').catch(() => '0'));
  if (holder === 0 || isAlive(holder)) return;
  const aside = `${lock}.${holder}.${process.pid}`;
  await rename(lock, aside).then(
    () => rm(aside, { force: true }),
    () => undefined,
  );
}
