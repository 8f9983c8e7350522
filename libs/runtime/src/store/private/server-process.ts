import { spawn, type ChildProcess } from 'node:child_process';
import { createServer, type AddressInfo } from 'node:net';
import { Redis } from 'ioredis';

/*
 * Keeps one private server: `node server-process.js <program> <folder> <port>`, the port being that of before. The server ends with this process, and this
 * process with its parent, whichever way that goes; so no server is left behind. Says over IPC where the server listens.
 */

const HOST = '127.0.0.1';
const START_MS = 10_000;
const [program, folder, before] = process.argv.slice(2) as [string, string, string];

let stopping = false;
let server: ChildProcess | undefined;
// Registered first: the parent may exit before the store is up.
process.once('disconnect', stop);
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
  // Sent to a whole group, these reach the apps as well, which need the store to end well; the launcher ends it last.
  process.on(signal, () => process.connected || stop());
}

const port = await freePort(Number(before)).catch(() => freePort(0));
if (!process.connected) process.exit(0);
server = spawn(
  program,
  // prettier-ignore
  [
    '--bind', HOST, '--port', String(port), '--dir', folder, '--daemonize', 'no',
    '--appendonly', 'yes', '--appendfsync', 'everysec', '--save', '',
    '--maxmemory-policy', 'noeviction', '--loglevel', 'warning', '--logfile', 'server.log',
  ],
  // In a group of its own: a terminal's Ctrl-C must not reach it before the apps have ended.
  { stdio: ['ignore', 'ignore', 'inherit'], detached: true },
);
server.on('error', (error) => say({ type: 'failed', reason: error.message }, 1));
server.on('exit', (code, signal) => {
  if (stopping) process.exit(0);
  say(
    { type: 'failed', reason: `${program} ended (${signal ?? `code ${code}`}); see ${folder}/server.log` },
    1,
  );
});

await untilItAnswers();
say({ type: 'listening', port });

function stop(): void {
  stopping = true;
  if (!server) process.exit(0);
  server.kill('SIGTERM');
}

function say(word: { type: string; reason?: string; port?: number }, exitCode?: number): void {
  const after = (): void => {
    if (exitCode !== undefined) process.exit(exitCode);
  };
  if (process.connected) process.send?.(word, after);
  else after();
}

// Another process may take it in the moment between; then the server ends at once and says so.
function freePort(wanted: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer().once('error', reject);
    probe.listen(wanted, HOST, () => {
      const { port: free } = probe.address() as AddressInfo;
      probe.close(() => resolve(free));
    });
  });
}

/** It must answer soon; a large append-only file may then take as long to load as it takes. */
async function untilItAnswers(): Promise<void> {
  const redis = new Redis(port, HOST, { retryStrategy: () => 20, maxRetriesPerRequest: null });
  redis.on('error', () => server?.exitCode !== null && redis.disconnect());
  redis.on('connect', () => clearTimeout(timer));
  const timer = setTimeout(() => {
    say({
      type: 'failed',
      reason: `${program} did not answer within ${START_MS} ms; see ${folder}/server.log`,
    });
    stop();
  }, START_MS);
  await redis.ping();
  clearTimeout(timer);
  redis.disconnect();
}
