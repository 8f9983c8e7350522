// Loaded before an app: a file beside which lies one of its name with `.stuck` cannot be moved. What that says is what happens
// to who tries: `refuse`, an error of the disk; `hang`, nothing ever again; `slow`, it takes two seconds. The product knows nothing of it.
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
