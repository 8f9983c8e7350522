import { readFileSync } from 'node:fs';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findEntry, wallOf } from './start.js';
import type { PoolSpec } from './spec.js';

const SPEC: PoolSpec = {
  setup: { role: 'draw' },
  processes: 1,
  heapMb: 128,
  memoryMb: 500,
  idleMs: 1_000,
  renders: 1,
};
/** A renderer that compiles code from text, as Vega does, has the same restrictions. */
const EVALUATES: PoolSpec = { ...SPEC, evaluates: true };
/** Harmful calls that code in a renderer could attempt. Each reports its result. */
const TRIES: Record<string, string> = {
  'read a file': `import('node:fs').then((fs) => fs.readFileSync('/etc/hostname'))`,
  'write a file': `import('node:fs').then((fs) => fs.writeFileSync('/tmp/mooring-render-test', ''))`,
  'start a process': `import('node:child_process').then((it) => it.spawnSync('true').pid || Promise.reject(new Error('none')))`,
  'start a process by hand': `import('node:child_process').then((it) => new it.ChildProcess().spawn({ file: 'true', args: ['true'] }))`,
  fetch: `Promise.resolve().then(() => fetch('http://127.0.0.1:9'))`,
  connect: `import('node:net').then((net) => { net.connect(9, '127.0.0.1').on('error', () => undefined); })`,
  'connect a socket': `import('node:net').then((net) => { new net.Socket().connect(9, '127.0.0.1').on('error', () => undefined); })`,
  'connect by http': `import('node:http').then((http) => { new http.Agent().createConnection({ port: 9, host: '127.0.0.1' }).on('error', () => undefined); })`,
  'send a datagram': `import('node:dgram').then((dgram) => dgram._createSocketHandle('127.0.0.1', 0, 'udp4'))`,
  listen: `import('node:net').then((net) => { net.createServer().listen(0).close(); })`,
  'listen by http': `import('node:http').then((http) => { new http.Server().listen(0).close(); })`,
  'listen by hand': `import('node:net').then(({ default: net }) => net._createServerHandle('127.0.0.1', 0, 4))`,
  'look up a name': `import('node:dns').then((dns) => dns.lookup('localhost', () => undefined))`,
  'look up a text': `import('node:dns').then((dns) => dns.resolveTxt('localhost', () => undefined))`,
  'look up a text later': `import('node:dns/promises').then((dns) => void dns.resolveTxt('localhost').catch(() => undefined))`,
  'look up a service': `import('node:dns').then((dns) => dns.lookupService('127.0.0.1', 80, () => undefined))`,
  'start a thread': `import('node:worker_threads').then((it) => { new it.Worker('', { eval: true }); })`,
  'start a thread for loaders': `import('node:module').then((it) => { it.register('data:text/javascript,'); })`,
  'start a thread from within': `import('node:module').then((it) => { it.createRequire('/')('node:module').register('data:text/javascript,'); })`,
  'open an inspector': `import('node:inspector').then((it) => { it.open(0); })`,
  'have another inspected': `Promise.resolve().then(() => process._debugProcess(process.ppid))`,
  'slow another down': `import('node:os').then((os) => os.setPriority(process.ppid, 10))`,
  'write traces': `import('node:trace_events').then((it) => { it.createTracing({ categories: ['v8'] }).enable(); })`,
  'load an addon': `Promise.resolve().then(() => process.dlopen({ exports: {} }, '/none.node'))`,
  'kill another': `Promise.resolve().then(() => process.kill(process.ppid, 0))`,
  'make code of text': `Promise.resolve().then(() => new Function('return 1')())`,
};

let folder: string;
let script: string;

beforeAll(async () => {
  // Next to the code that the process reads, which is all it may read.
  const code = join(dirname(findEntry()));
  folder = await mkdtemp(join(code, 'doors-'));
  script = join(folder, 'try.mjs');
  await writeFile(
    script,
    `import { closeDoors } from '../disable-node-apis.js';
closeDoors();
const said = {};
for (const [what, attempt] of [${Object.entries(TRIES)
      .map(([what, attempt]) => `[${JSON.stringify(what)}, () => ${attempt}]`)
      .join(', ')}]) {
  said[what] = await attempt().then(() => 'done', (error) => error.code ?? error.message);
}
process.send(said);`,
  );
});

afterAll(() => rm(folder, { recursive: true }));

describe('a process that draws, whatever runs in it,', () => {
  it.each([SPEC, EVALUATES])('can do nothing but draw: $evaluates', async (spec) => {
    const child = fork(script, { cwd: '/', env: {}, execArgv: wallOf(spec, findEntry()) });
    const [said] = (await once(child, 'message')) as [Record<string, string>];
    child.kill('SIGKILL');
    const forbidden = /^(ERR_ACCESS_DENIED|A renderer may not|Code generation from strings disallowed)/;
    expect(Object.keys(said)).toEqual(Object.keys(TRIES));
    const mayEvaluate = spec.evaluates ? [['make code of text', 'done']] : [];
    expect(Object.entries(said).filter(([, how]) => !forbidden.test(how))).toEqual(mayEvaluate);
  });

  it('closes its doors before it gets a message', () => {
    const entry = readFileSync(findEntry(), 'utf8');
    expect(entry).toMatch(/\ncloseDoors\(\);\n[^]*process\.on\('message'/);
  });
});
