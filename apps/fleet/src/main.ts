import {
  describeAddress,
  endLeftover,
  readSettings,
  startPrivateStore,
  storeAddress,
  type PrivateStore,
} from '#runtime';
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { FleetEnv } from './fleet-env.js';
import { checkAddress, checkPort } from './preflight.js';
import { Screen } from './screen.js';
import { endWithStarter } from './starter.js';
import { Supervisor } from './supervisor.js';

/** The launcher: starts a private store if none is configured, then the API, the workers and the janitor as processes. */

const READY_MS = 60_000;
const POLL_MS = 50;

const screen = new Screen();
const children: Supervisor[] = [];
let store: Promise<PrivateStore> | undefined;
let ending: Promise<void> | undefined;

const env = readSettings(FleetEnv);
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => void end(0));
endWithStarter(() => void end(0));
try {
  await start();
} catch (error) {
  if (!ending) {
    process.stderr.write(`${(error as Error).message}\n`);
    await end(1);
  }
}

async function start(): Promise<void> {
  await checkPort(env.PORT, env.HOST);
  const storeName = await provideStore();
  if (ending) return;
  launch();
  await Promise.all(children.map(untilReady));
  if (ending) return;
  const [api, ...others] = children.map((child) => ({
    name: child.name,
    pid: child.pid,
    url: child.address ?? '',
  }));
  screen.welcome(api!.url, storeName, others, isOpen());
}

async function provideStore(): Promise<string> {
  const address = storeAddress(env);
  if (address) {
    await checkAddress(address, env.MOORING_PREFIX);
    return describeAddress(address);
  }
  // With any free port there is no stable folder to return to.
  const folder = env.PORT === 0 ? `.mooring/any-${process.pid}` : `.mooring/${env.PORT}`;
  store = startPrivateStore(folder);
  const started = await store;
  process.env['REDIS_URL'] = started.url;
  void started.exited.then(({ code, signal }) => {
    if (ending) return;
    const how = signal ?? `code ${code}`;
    process.stderr.write(`The private store exited (${how}); the fleet cannot run without it.\n`);
    // The parent of the server was killed, but the server may still run.
    return endLeftover(folder).then(() => end(1));
  });
  await checkAddress({ via: 'url', url: started.url }, env.MOORING_PREFIX);
  return `${started.url}, ${started.description}`;
}

function launch(): void {
  const workers = Array.from({ length: env.WORKERS }, (_, i) => `worker-${i + 1}`);
  for (const name of ['api', ...workers, 'janitor']) {
    const app = name.replace(/-\d+$/, '');
    const child = new Supervisor(name, entry(app), childEnv(app), {
      failedToStart: (who, how) => {
        // The process has printed the reason itself, unless it was killed.
        if (!ending) process.stderr.write(`${who} exited during its start (${how}).\n`);
        void end(1);
      },
      line: (from, line) => screen.childLine(from, line),
      died: (who, how, againInMs) => {
        process.stderr.write(`${who} exited unexpectedly (${how}); restarting it in ${againInMs} ms\n`);
      },
    });
    children.push(child);
    child.start();
  }
}

/** Whether local callers may enqueue probes without a key. */
function isOpen(): boolean {
  const hasKeys = process.env['API_KEYS'] || process.env['API_KEYS_FILE'];
  return !hasKeys && process.env['PROBE'] !== 'off';
}

function childEnv(app: string): NodeJS.ProcessEnv {
  // On a terminal only warnings are shown. LOG_LEVEL=info shows more.
  const colour = process.env['NO_COLOR'] ? {} : { FORCE_COLOR: '1' };
  const forPeople = process.stdout.isTTY ? { LOG_FORMAT: 'pretty', LOG_LEVEL: 'warn', ...colour } : {};
  // HOST applies to the API. The others serve health on loopback, each on a free port.
  const health = app === 'api' ? {} : { HOST: '127.0.0.1', HEALTH_PORT: '0' };
  return { ...forPeople, ...process.env, ...health, LAUNCHED: 'yes' };
}

async function untilReady(child: Supervisor): Promise<void> {
  const deadline = Date.now() + READY_MS;
  while (!ending) {
    if (child.address && (await isReady(child.address))) return;
    if (Date.now() > deadline)
      throw new Error(`${child.name} did not become ready within ${READY_MS / 1_000} s.`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

async function isReady(url: string): Promise<boolean> {
  try {
    return (await fetch(`${url}/readyz`)).ok;
  } catch {
    return false;
  }
}

/** Shuts everything down once: first the processes, then the store. */
function end(exitCode: number): Promise<void> {
  ending ??= (async () => {
    screen.say('\nEnding…');
    const limit = env.SHUTDOWN_TIMEOUT + 2_000;
    // All processes stop concurrently within one time limit. The API stops long before the workers.
    const ends = await Promise.all(children.map((child) => child.stop(limit)));
    await store?.then((started) => started.stop(), ignoreFailedStart);
    if (env.PORT === 0) await rm(`.mooring/any-${process.pid}`, { recursive: true, force: true });
    const late = children.filter((_child, i) => ends[i] === 'late').map(({ name }) => name);
    if (late.length > 0) process.stderr.write(`Did not end in time: ${late.join(', ')}.\n`);
    else screen.say('Ended.');
    process.exit(exitCode || (late.length > 0 ? 1 : 0));
  })();
  return ending;
}

function ignoreFailedStart(): void {
  // The failed start was reported already.
}

/** Packed if the whole project was built, compiled only if `nest build` was called. */
function entry(app: string): string {
  const packed = fileURLToPath(new URL(`../../../packed/${app}.js`, import.meta.url));
  return existsSync(packed) ? packed : fileURLToPath(new URL(`../../${app}/src/main.js`, import.meta.url));
}
