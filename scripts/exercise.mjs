// The night exercise of docs/operating.md: sets the scene on a store of its own. `npm run exercise -- rollback` rolls the deploy back.
import { needNode } from './need-node.mjs';

needNode();
const { once } = await import('node:events');
const { mkdir, readFile, rm, rmdir, writeFile } = await import('node:fs/promises');
const { createServer } = await import('node:net');
const path = await import('node:path');
const { fileURLToPath } = await import('node:url');

const USAGE = `Usage: npm run exercise                  starts the night exercise of docs/operating.md; Ctrl-C ends it
       npm run exercise -- rollback      rolls its deploy back, from another terminal

PORT is the port of its API, 3100 by default. Its store is its own; REDIS_URL names another.`;
const folder = fileURLToPath(new URL('../.mooring/exercise', import.meta.url));
/** The address of the exercise that runs. */
const stateFile = path.join(folder, 'running.json');
const [command, ...more] = process.argv.slice(2);

if (command === '--help' || command === '-h') console.log(USAGE);
else if (more.length > 0 || ![undefined, 'rollback'].includes(command))
  fail(`Unknown argument "${more[0] ?? command}".\n${USAGE}`, 2);
else await (command === 'rollback' ? rollBack() : start()).catch((error) => fail(error.message));
// An order that was under way when the exercise ended may still be tried again.
process.exit();

function fail(why, code = 1) {
  console.error(why);
  process.exitCode = code;
}

async function rollBack() {
  const url = await runningUrl();
  const answer = url && (await fetch(`${url}/rollback`, { method: 'POST' }).catch(() => undefined));
  if (!answer?.ok) throw new Error('No exercise runs. Start it: npm run exercise');
  console.log('Release 1 of the shop runs again.');
}

async function runningUrl() {
  const { url } = JSON.parse(await readFile(stateFile, 'utf8').catch(() => '{}'));
  return url && (await fetch(`${url}/livez`).catch(() => undefined)) ? url : undefined;
}

async function start() {
  const url = await runningUrl();
  if (url) throw new Error(`An exercise runs already, at ${url}. End it with Ctrl-C in its terminal.`);
  const port = await freePort();
  const { buildIfStale } = await import('./build.mjs');
  await buildIfStale();
  const { startPrivateStore } = await import('../dist/libs/runtime/src/index.js');
  const { Exercise } = await import('../dist/apps/exercise/src/exercise.js');
  const stopped = untilStopped();
  await mkdir(folder, { recursive: true });
  let store, exercise;
  try {
    if (!process.env.REDIS_URL) store = await startPrivateStore(folder);
    exercise = await Exercise.start(store?.url ?? process.env.REDIS_URL, port);
    await writeFile(stateFile, JSON.stringify({ url: exercise.url }));
    console.log('A shop works all day …');
    const isSet = exercise.setScene().then(() => console.log(night(exercise.url)));
    await Promise.race([stopped, isSet.then(() => stopped)]);
  } finally {
    await exercise?.end();
    await store?.stop();
    await rm(folder, { recursive: true, force: true });
    // Fleets keep their data beside it.
    await rmdir(path.dirname(folder)).catch(() => undefined);
  }
}

async function freePort() {
  const text = process.env.PORT || '3100';
  const port = Number(text);
  if (!/^\d{1,5}$/.test(text) || port < 1 || port > 65_535)
    throw new Error(`PORT must be a number from 1 to 65535; got "${text}".`);
  const server = createServer().listen(port, '127.0.0.1');
  await once(server, 'listening').catch(() => {
    throw new Error(
      `Port ${port} of 127.0.0.1 is taken. Choose another: PORT=${port === 65_535 ? 3100 : port + 1} npm run exercise`,
    );
  });
  server.close();
  await once(server, 'close');
  return port;
}

function untilStopped() {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, resolve);
  });
}

function night(url) {
  return `
It is night. Release 2 of the shop was deployed a few minutes ago, and jobs fail. The API is at ${url}
Follow docs/operating.md, "A night exercise", in another terminal. Ctrl-C ends it, and removes everything it made.
`;
}
