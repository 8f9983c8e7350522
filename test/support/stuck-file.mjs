// Loaded before an app: a file cannot be moved if there is a second file of its name with `.stuck`. The content of that
// file is the fault: `refuse`, a disk error; `hang`, no answer; `slow`, a delay of two seconds. The product has no code
// for this.
import { readFileSync } from 'node:fs';
import promises from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { setTimeout as pause } from 'node:timers/promises';

const { rename } = promises;
promises.rename = async (from, to) => {
  const trouble = troubleOf(`${String(from)}.stuck`);
  if (trouble === 'refuse')
    throw Object.assign(new Error(`EIO: i/o error, rename ${String(from)}`), { code: 'EIO' });
  if (trouble === 'hang') return new Promise(() => undefined);
  if (trouble === 'slow') await pause(2_000);
  return rename(from, to);
};
syncBuiltinESMExports();

function troubleOf(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
