// The night exercise of docs/operating.md: sets the scene on a store of its own. `npm run exercise -- rollback` rolls the deploy back.
import { needNode } from './need-node.mjs';

needNode();
process.env.PORT ||= '3100';
const { PORT, REDIS_URL } = process.env;
if (process.argv[2] === 'rollback') await rollBack();
else await start();

async function rollBack() {
  const answer = await fetch(`http://127.0.0.1:${PORT}/rollback`, { method: 'POST' }).catch(() => undefined);
  console.log(
    answer?.ok ? 'Release 1 of the shop runs again.' : 'No exercise runs. Start it: npm run exercise',
  );
  if (!answer?.ok) process.exitCode = 1;
}

async function start() {
  const { buildIfStale } = await import('./build.mjs');
  await buildIfStale();
  const { startPrivateStore } = await import('../dist/libs/runtime/src/index.js');
  const store = REDIS_URL ? undefined : await startPrivateStore('.mooring/exercise');
  if (store) process.env.REDIS_URL = store.url;
  const { ended } = await import('../dist/apps/exercise/src/main.js');
  await ended;
  await store?.stop();
}
