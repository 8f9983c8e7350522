import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';

const NAMES = ['redis-server', 'valkey-server'];

/** The first server program on a PATH. */
export function findServer(path = process.env['PATH'] ?? ''): string | undefined {
  const files = NAMES.flatMap((name) => path.split(delimiter).map((folder) => join(folder, name)));
  return files.find(isProgram);
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
