import { readdir, readlink } from 'node:fs/promises';

/** The open files of a process, as Linux names them: a path, or `socket:` and `pipe:` with a number. */
export async function openFilesOf(pid: number | 'self'): Promise<string[]> {
  const folder = `/proc/${pid}/fd`;
  // A file that was closed since the folder was read has no name any more.
  const names = (await readdir(folder)).map((fd) => readlink(`${folder}/${fd}`).catch(() => ''));
  return (await Promise.all(names)).filter((name) => name !== '');
}
