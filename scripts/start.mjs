// Builds if a source changed, then starts the fleet, or one named app. Settings are also read from .env.
// Plain syntax until the version is known: an old Node must be able to read this far.
import { needNode } from './need-node.mjs';

needNode();
const { existsSync } = await import('node:fs');
const { buildIfStale } = await import('./build.mjs');
// The environment takes precedence over the file.
if (existsSync('.env')) process.loadEnvFile('.env');
const role = process.argv[2] || 'fleet';
try {
  await buildIfStale(role === 'sweep' ? console.error : console.log);
  if (role === 'sweep') await findStore();
  else if (role !== 'fleet') await bringStore();
  await import(`../dist/packed/${role}.js`);
} catch (error) {
  console.error(sentence(error));
  process.exit(1);
}

function sentence({ code, path, message }) {
  if (code === 'ERR_MODULE_NOT_FOUND') return 'Something is not installed. Run: npm ci\n' + message;
  if (code === 'EROFS' || code === 'EACCES')
    return 'Cannot write to ' + path + '. Make it writable, or build elsewhere and set REDIS_URL.';
  if (code === 'ENOSPC') return 'There is no space left on the disk (' + path + ').';
  return message;
}

/** A sweep of a new private store would find nothing and report success. */
async function findStore() {
  if (namesStore()) return;
  const { PORT = '3000' } = process.env;
  const { runningPrivateStore } = await import('../dist/libs/runtime/src/index.js');
  const url = await runningPrivateStore(`.mooring/${PORT}`);
  if (url) process.env.REDIS_URL = url;
  else if (process.argv.length > 3)
    throw new Error(`No store: set REDIS_URL, or start the fleet first. None runs in .mooring/${PORT}.`);
}

function namesStore() {
  const { REDIS_URL, REDIS_SENTINELS, REDIS_CLUSTER, PORT = '3000' } = process.env;
  // The app's own settings refuse a wrong PORT; here it would become a path.
  return REDIS_URL || REDIS_SENTINELS || REDIS_CLUSTER || !/^\d{1,5}$/.test(PORT);
}

/** A single app uses the private store that already runs, or starts one. */
async function bringStore() {
  if (namesStore()) return;
  const { PORT = '3000' } = process.env;
  const { joinPrivateStore } = await import('../dist/libs/runtime/src/index.js');
  process.env.REDIS_URL = await joinPrivateStore(`.mooring/${PORT}`);
  console.log(`Uses the private store at ${process.env.REDIS_URL}, with its data in .mooring/${PORT}.`);
}
