import { readFile } from 'node:fs/promises';
import { WrongUsage } from './problems.js';

/** The text of a file, or for `-` of what is piped in. */
export async function readInput(path: string): Promise<string> {
  return decode(path === '-' ? await readStdin() : await readNamed(path), path);
}

async function readStdin(): Promise<Buffer> {
  if (process.stdin.isTTY) process.stderr.write('Reading from the terminal; Ctrl-D ends.\n');
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

async function readNamed(path: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (error) {
    throw new WrongUsage(`Cannot read ${path}: ${(error as NodeJS.ErrnoException).code}.`);
  }
}

/** Strict: a byte that is read as something else would make another owner's name. */
function decode(bytes: Buffer, path: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new WrongUsage(`${path === '-' ? 'What is piped in' : path} is not text in UTF-8.`);
  }
}
