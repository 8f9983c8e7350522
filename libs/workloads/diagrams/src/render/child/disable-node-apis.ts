import childProcess from 'node:child_process';
import cluster from 'node:cluster';
import dgram from 'node:dgram';
import dns from 'node:dns';
import http from 'node:http';
import http2 from 'node:http2';
import https from 'node:https';
import module, { syncBuiltinESMExports } from 'node:module';
import net from 'node:net';
import os from 'node:os';
import tls from 'node:tls';
import traceEvents from 'node:trace_events';
import workerThreads from 'node:worker_threads';

/** What reaches out of the process, by the module it stands in. */
const DOORS: [behind: object, names: string[]][] = [
  [net, ['connect', 'createConnection', 'createServer', 'Server', '_createServerHandle']],
  [net.Socket.prototype, ['connect']],
  // Servers of all protocols come to it.
  [net.Server.prototype, ['listen', '_listen2']],
  [tls, ['connect', 'createServer', 'Server']],
  [http, ['request', 'get', 'createServer', 'Server', 'ClientRequest']],
  [https, ['request', 'get', 'createServer', 'Server']],
  [http2, ['connect', 'createServer', 'createSecureServer']],
  [dgram, functionsOf(dgram)],
  [dns, functionsOf(dns)],
  [dns.promises, functionsOf(dns.promises)],
  [
    childProcess,
    ['spawn', 'spawnSync', 'exec', 'execSync', 'execFile', 'execFileSync', 'fork', '_forkChild'],
  ],
  [cluster, ['fork']],
  // Node's wall is not around threads, and loaders have one.
  [workerThreads, ['Worker']],
  [module, ['register', 'registerHooks']],
  [traceEvents, ['createTracing']],
  [os, ['setPriority']],
  [globalThis, ['fetch', 'WebSocket', 'EventSource', 'XMLHttpRequest']],
  [process, ['binding', '_linkedBinding', 'dlopen', 'kill', '_kill', '_debugProcess', 'execve', 'chdir']],
];

/**
 * A renderer needs no network, processes or threads. Calls that a library makes anyway fail and are reported.
 */
export function closeDoors(): void {
  for (const [behind, names] of DOORS) {
    for (const name of names) {
      Object.defineProperty(behind, name, {
        value: function closed(): never {
          throw new Error(`A renderer may not use ${name}.`);
        },
        configurable: false,
        writable: false,
      });
    }
  }
  syncBuiltinESMExports();
}

function functionsOf(from: object): string[] {
  return Object.entries(from).flatMap(([name, value]) => (typeof value === 'function' ? [name] : []));
}
