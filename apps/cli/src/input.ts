import { readFile } from 'node:fs/promises';
import { WrongUsage } from './problems.js';

/** Reads a file, or standard input for `-`. */
export async function readInput(path: string): Promise<string> {
  return decode(path === '-' ? await readStdin() : await readNamed(path), path);
}

async function readStdin(): Promise<Buffer> {
  if (process.stdin.isTTY) process.stderr.write('Reading from the terminal; press Ctrl-D to finish.\n');
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

/** Rejects invalid UTF-8: a replaced byte would name a different owner. */
function decode(bytes: Buffer, path: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new WrongUsage(`${path === '-' ? 'Standard input' : path} is not valid UTF-8.`);
  }
}
