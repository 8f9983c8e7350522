import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { runInThisContext } from 'node:vm';
import { DiagramInvalid } from '../errors.js';
import { evaluate } from './d2.eval.js';
import type { Drawer } from './drawer.js';

interface D2 {
  compile(request: string): Promise<string> | string;
  render(request: string): Promise<string> | string;
}

interface Go {
  readonly importObject: object;
  run(instance: unknown): Promise<void>;
}

type Compiled = Record<'diagram' | 'renderOptions', object>;

const FILES = dirname(fileURLToPath(import.meta.resolve('@terrastruct/d2')));

/** In this thread: the package's own class runs it in another, which costs its memory a second time. */
export async function load(): Promise<Drawer> {
  const d2 = await start();
  let hasElk = false;
  const compile = async (source: string): Promise<Compiled> => {
    if (!hasElk && /\belk\b/i.test(source)) {
      await loadElk();
      hasElk = true;
    }
    return told(await d2.compile(JSON.stringify({ fs: { index: source }, options: {} }))) as Compiled;
  };
  return {
    async draw(source) {
      const { diagram, renderOptions } = await compile(source);
      const options = { ...renderOptions, noXMLTag: true, pad: 20 };
      const svg = told(await d2.render(JSON.stringify({ diagram, options }))) as string;
      return Buffer.from(svg, 'base64').toString();
    },
    async check(source) {
      await compile(source);
    },
  };
}

async function start(): Promise<D2> {
  runInThisContext(file('wasm_exec.js'));
  const { Go, WebAssembly } = globalThis as unknown as {
    Go: new () => Go;
    WebAssembly: { instantiate(code: Uint8Array, imports: object): Promise<{ instance: unknown }> };
  };
  const go = new Go();
  const { instance } = await WebAssembly.instantiate(readFileSync(join(FILES, 'd2.wasm')), go.importObject);
  // Runs for as long as the process.
  void go.run(instance);
  Object.assign(globalThis, { eval: evaluate });
  return (globalThis as unknown as { d2: D2 }).d2;
}

/** Its algorithms register themselves in later turns of the loop. */
async function loadElk(): Promise<void> {
  runInThisContext(file('elk.js'));
  runInThisContext(`(() => {${file('setup.js')}})()`);
  for (let turns = 0; turns < 3; turns += 1) await turn();
}

function file(name: string): string {
  return readFileSync(join(FILES, name), 'utf8');
}

function told(reply: string): unknown {
  const { data, error } = JSON.parse(reply) as { data?: unknown; error?: { message: string } };
  if (error) throw invalid(error.message);
  return data;
}

/** Either a plain message, or a list of them with their places: `index:3:1: …`. */
function invalid(said: string): DiagramInvalid {
  const [, line, column, message] = /index:(\d+):(\d+): (.*?)"\}/.exec(said) ?? [];
  if (!message) return new DiagramInvalid(said.split('\n', 1)[0] ?? said);
  const plain = JSON.parse(`"${message}"`) as string;
  return new DiagramInvalid(plain, { line: Number(line), column: Number(column) });
}
