import { randomBytes } from 'node:crypto';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Writes a text to a file of its own, which `put` moves to its place as a whole, so that no reader finds half of it.
 * The registry removes the draft of a dead process.
 */
export async function withDraft<T>(
  folder: string,
  text: string,
  put: (draft: string) => Promise<T>,
): Promise<T> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const draft = join(folder, `.${randomBytes(6).toString('hex')}`);
  try {
    await writeFile(draft, text, { mode: 0o600 });
    return await put(draft);
  } finally {
    await rm(draft, { force: true });
  }
}
