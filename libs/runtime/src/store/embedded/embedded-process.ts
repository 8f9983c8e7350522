import { createServer, type AddressInfo } from 'node:net';

import { ValkeyBridge } from './valkey-bridge.js';
import { ValkeyExit } from './wasi-imports.js';

/*
 * The embedded store as a process: `node embedded-process.js [port]`; port 0, or none, takes any free one.
 * Says where it listens over IPC when it was forked, and nothing on stdout.
 */

const HOST = '127.0.0.1';
const CLOSE_MS = 500;

const hasParent = process.send !== undefined;
// Registered first: the parent may exit before the store is up.
process.once('disconnect', stop);
const port = Number(process.argv[2] ?? 0);
const bridge = new ValkeyBridge(ended);

// Half-open: a client that has said its last word still gets its replies.
const server = createServer({ allowHalfOpen: true }, (socket) => bridge.adopt(socket));
server.on('error', (error: NodeJS.ErrnoException) => {
  // Once it listens, an error is of one connection that could not be taken, not of the server.
  if (!server.listening) fail(refusal(error));
});
if (hasParent && !process.connected) process.exit(0);
server.listen(port, HOST, () => void boot());

for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
  // Sent to a whole group, these reach the apps as well, which need the store to end well; a parent ends it last.
  process.on(signal, () => process.connected || stop());
}

async function boot(): Promise<void> {
  const { port: taken } = server.address() as AddressInfo;
  try {
    await bridge.boot(taken);
  } catch (cause) {
    return ended(cause);
  }
  if (hasParent && process.connected) process.send?.({ type: 'listening', port: taken });
}

function ended(cause: unknown): void {
  if (cause instanceof ValkeyExit && cause.code === 0) process.exit(0);
  const reason = cause instanceof Error ? cause.message : String(cause);
  fail(`the server broke: ${reason}${bridge.warning && ` (${bridge.warning})`}`);
}

function fail(reason: string): void {
  process.stderr.write(`embedded store: ${reason}\n`);
  if (hasParent && process.connected) process.send?.({ type: 'failed', reason }, () => process.exit(1));
  else process.exit(1);
}

function stop(): void {
  server.close(() => process.exit(0));
  bridge.close();
  setTimeout(() => process.exit(0), CLOSE_MS);
}

function refusal(error: NodeJS.ErrnoException): string {
  if (error.code === 'EADDRINUSE') return `port ${port} of ${HOST} is taken by another process`;
  return `cannot listen on port ${port} of ${HOST}: ${error.message}`;
}
