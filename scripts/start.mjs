// Starts the fleet, or with a name one app of it, building first what is stale.
// Plain syntax until the version is known: an old Node must be able to read this far.
import { needNode } from './need-node.mjs';

needNode();
const { buildIfStale } = await import('./build.mjs');
const role = process.argv[2] || 'fleet';
await buildIfStale();
if (role !== 'fleet') await bringStore(role);
await import(`../dist/apps/${role}/src/main.js`);

/** An app started by itself uses the private store that runs already, or brings one. */
async function bringStore() {
  const { REDIS_URL, REDIS_SENTINELS, REDIS_CLUSTER, PORT = '3000' } = process.env;
  if (REDIS_URL || REDIS_SENTINELS || REDIS_CLUSTER) return;
  const { runningPrivateStore, startPrivateStore } = await import('../dist/libs/runtime/src/index.js');
  const folder = `.mooring/${PORT}`;
  try {
    process.env.REDIS_URL = (await runningPrivateStore(folder)) ?? (await startPrivateStore(folder)).url;
  } catch (error) {
    console.error(error.message);
    process.exit(1);
  }
}
