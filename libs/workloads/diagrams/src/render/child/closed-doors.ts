import childProcess from 'node:child_process';
import cluster from 'node:cluster';
import dgram from 'node:dgram';
import dns from 'node:dns';
import http from 'node:http';
import http2 from 'node:http2';
import https from 'node:https';
import { syncBuiltinESMExports } from 'node:module';
import net from 'node:net';
import tls from 'node:tls';
import workerThreads from 'node:worker_threads';

/** What reaches out of the process, by the module it stands in. */
const DOORS: [module: object, names: string[]][] = [
  [net, ['connect', 'createConnection', 'createServer', 'Server']],
  [net.Socket.prototype, ['connect']],
  [tls, ['connect', 'createServer']],
  [http, ['request', 'get', 'createServer']],
  [https, ['request', 'get', 'createServer']],
  [http2, ['connect', 'createServer', 'createSecureServer']],
  [dgram, ['createSocket', 'Socket']],
  [dns, ['lookup', 'resolve', 'resolve4', 'resolve6', 'resolveAny', 'reverse', 'Resolver']],
  [dns.promises, ['lookup', 'resolve', 'resolve4', 'resolve6', 'resolveAny', 'reverse', 'Resolver']],
  [
    childProcess,
    ['spawn', 'spawnSync', 'exec', 'execSync', 'execFile', 'execFileSync', 'fork', '_forkChild'],
  ],
  [cluster, ['fork']],
  [workerThreads, ['Worker']],
  [globalThis, ['fetch', 'WebSocket', 'EventSource', 'XMLHttpRequest']],
  [process, ['binding', '_linkedBinding', 'dlopen', 'kill', 'chdir']],
];

/** A renderer draws what it is given, and has nobody to talk to. What a library does all the same fails, and is told. */
export function closeDoors(): void {
  for (const [module, names] of DOORS) {
    for (const name of names) {
      Object.defineProperty(module, name, {
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
