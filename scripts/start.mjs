// Starts the fleet, or with a name one app of it, building first what is stale. Settings are also read from .env.
// Plain syntax until the version is known: an old Node must be able to read this far.
import { needNode } from './need-node.mjs';

needNode();
const { existsSync } = await import('node:fs');
const { buildIfStale } = await import('./build.mjs');
// What the environment says already counts before what the file says.
if (existsSync('.env')) process.loadEnvFile('.env');
const role = process.argv[2] || 'fleet';
await buildIfStale();
if (role !== 'fleet') await bringStore();
await import(`../dist/apps/${role}/src/main.js`);

/** An app started by itself uses the private store that runs already, or brings one. */
async function bringStore() {
  const { REDIS_URL, REDIS_SENTINELS, REDIS_CLUSTER, PORT = '3000' } = process.env;
  // A wrong PORT is for the app's own settings to refuse; here it would become a path.
  if (REDIS_URL || REDIS_SENTINELS || REDIS_CLUSTER || !/^\d{1,5}$/.test(PORT)) return;
  const { joinPrivateStore } = await import('../dist/libs/runtime/src/index.js');
  try {
    process.env.REDIS_URL = await joinPrivateStore(`.mooring/${PORT}`);
  } catch (error) {
    console.error(error.message);
    process.exit(1);
  }
}
