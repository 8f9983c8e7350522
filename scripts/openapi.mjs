/*
  Writes docs/openapi.json, as the api serves it without keys, and the types of libs/client that are made of it.

    node scripts/openapi.mjs                  starts an api on a store of its own, and writes both files
    node scripts/openapi.mjs --check <url>    compares both files with what the api at this address serves; exits 1 if they differ
*/
import { needNode } from './need-node.mjs';

needNode();
const { readFile, writeFile, mkdtemp, rm } = await import('node:fs/promises');
const { fork } = await import('node:child_process');
const { once } = await import('node:events');
const { tmpdir } = await import('node:os');
const path = await import('node:path');
const { fileURLToPath } = await import('node:url');
const { format, resolveConfig } = await import('prettier');
const { typesOf } = await import('./openapi-types.mjs');

const DOCUMENT = 'docs/openapi.json';
const TYPES = 'libs/client/src/api-types.ts';
const root = fileURLToPath(new URL('..', import.meta.url));
const [option, url] = process.argv.slice(2);

if (option === '--check' && url) await check(await served(url));
else if (option === undefined) await write(await servedByOwnApi());
else {
  console.error('Give nothing, or --check and the address of an api.');
  process.exit(2);
}

async function served(address) {
  const response = await fetch(`${address}/openapi.json`);
  if (!response.ok) throw new Error(`${address}/openapi.json: ${response.status}`);
  return response.json();
}

async function servedByOwnApi() {
  const { buildIfStale } = await import('./build.mjs');
  await buildIfStale();
  const { startPrivateStore } = await import('../dist/libs/runtime/src/index.js');
  const folder = await mkdtemp(path.join(tmpdir(), 'mooring-openapi-'));
  const store = await startPrivateStore(folder);
  const env = { PATH: process.env.PATH, REDIS_URL: store.url, PORT: '0', ARTIFACTS_URL: `file:${folder}` };
  const api = fork(path.join(root, 'dist/packed/api.js'), {
    env,
    cwd: folder,
    stdio: ['ignore', 'ignore', 2, 'ipc'],
  });
  try {
    const started = await Promise.race([once(api, 'message'), once(api, 'exit').then(() => [])]);
    if (started[0]?.url === undefined) throw new Error('The api did not start.');
    return await served(started[0].url);
  } finally {
    api.kill();
    if (api.exitCode === null && api.signalCode === null) await once(api, 'exit');
    await store.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Both files are formatted, as the check of the format wants them. */
async function formatted(file, text) {
  const filepath = path.join(root, file);
  return format(text, { ...(await resolveConfig(filepath)), filepath });
}

async function write(document) {
  for (const [file, text] of [
    [DOCUMENT, JSON.stringify(document)],
    [TYPES, typesOf(document)],
  ]) {
    await writeFile(path.join(root, file), await formatted(file, text));
    console.log(`${file} is written.`);
  }
}

async function check(document) {
  const committed = JSON.parse(await read(DOCUMENT, '{}'));
  const parts = differences(partsOf(committed), partsOf(document));
  if (parts.length > 0) complain(`${DOCUMENT} is not what the api serves: ${parts.join(', ')}.`);
  if ((await read(TYPES, '')) !== (await formatted(TYPES, typesOf(document))))
    complain(`${TYPES} is not made of what the api serves.`);
}

function read(file, otherwise) {
  return readFile(path.join(root, file), 'utf8').catch(() => otherwise);
}

/** What a difference is named by: paths and components one by one, and the rest. */
function partsOf({ paths = {}, components = {}, ...rest }) {
  const named = Object.entries(components).flatMap(([kind, all]) =>
    Object.entries(all).map(([name, each]) => [`${kind}/${name}`, each]),
  );
  return { ...rest, ...paths, ...Object.fromEntries(named), order: Object.keys(paths) };
}

function differences(was, is) {
  const names = [...new Set([...Object.keys(was), ...Object.keys(is)])];
  return names.filter((name) => JSON.stringify(was[name]) !== JSON.stringify(is[name]));
}

function complain(what) {
  console.error(`${what}\nRun \`npm run openapi\` and commit what it writes.`);
  process.exitCode = 1;
}
