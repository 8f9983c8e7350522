// Runs the tests for real container engines on a private Docker daemon and a private Podman: `npm run test:engines`.
// It needs root on Linux. All arguments go to the test runner.
import { needNode } from './need-node.mjs';

needNode();
const { execFileSync, spawn, spawnSync } = await import('node:child_process');
const { once } = await import('node:events');
const { createServer } = await import('node:http');
const { fileURLToPath } = await import('node:url');
const { PrivateEngines } = await import('./private-engines.mjs');

const PROGRAMS = {
  dockerd: 'docker.io',
  docker: 'docker.io',
  podman: 'podman',
  runc: 'runc',
  busybox: 'busybox-static',
};
const runner = fileURLToPath(new URL('../node_modules/vitest/vitest.mjs', import.meta.url));
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];

let tests;
let isEnding = false;
for (const signal of SIGNALS) process.on(signal, () => end(signal));

requireRoot();
installMissing();
const engines = await PrivateEngines.start((line) => console.log(line)).catch(fail);
let status = 1;
try {
  if (!isEnding) status = await runTests();
} finally {
  await engines.stop();
}
console.log('The engines are gone, with all that was theirs.');
process.exit(isEnding ? 130 : status);

async function runTests() {
  const control = await listen();
  const hosts = Object.fromEntries(Object.values(engines.engines).map(({ name, host }) => [name, host]));
  tests = spawn(process.execPath, [runner, 'run', ...process.argv.slice(2)], {
    stdio: 'inherit',
    env: {
      ...process.env,
      TEST_DOCKER_HOSTS: JSON.stringify(hosts),
      TEST_ENGINES_CONTROL: `http://127.0.0.1:${control.address().port}`,
    },
  });
  const [code] = await once(tests, 'exit');
  control.closeAllConnections();
  control.close();
  return code ?? 1;
}

/** Serves `POST /dockerd/restart`, `freeze` and `thaw`; answers when the command is done. */
async function listen() {
  const server = createServer((asked, answer) => {
    const [, name, verb] = asked.url.split('/');
    const engine = engines.engines[name];
    if (!engine || !['restart', 'freeze', 'thaw'].includes(verb)) return answer.writeHead(404).end();
    Promise.resolve(engine[verb]()).then(
      () => answer.writeHead(204).end(),
      (error) => answer.writeHead(500).end(error.message),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

/** Ends the tests first; then the usual clean-up follows. */
function end(signal) {
  isEnding = true;
  tests?.kill(signal);
}

function requireRoot() {
  if (process.platform === 'linux' && process.getuid() === 0) return;
  fail(new Error('Real engines are started by root, on Linux. Run: sudo npm run test:engines'));
}

function installMissing() {
  const missing = new Set(
    Object.entries(PROGRAMS)
      .filter(([program]) => spawnSync('sh', ['-c', `command -v ${program}`]).status !== 0)
      .map(([, name]) => name),
  );
  if (missing.size === 0) return;
  const names = [...missing];
  if (spawnSync('sh', ['-c', 'command -v apt-get']).status !== 0)
    fail(new Error(`Not installed: ${names.join(', ')}.`));
  console.log(`Installing ${names.join(', ')}…`);
  try {
    execFileSync('apt-get', ['update', '-qq'], { stdio: 'inherit' });
    execFileSync('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...names], {
      stdio: 'inherit',
    });
  } catch {
    fail(new Error(`Not installed: ${names.join(', ')}.`));
  }
}

function fail(error) {
  console.error(error.message);
  process.exit(1);
}
